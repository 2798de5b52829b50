/**
 * Hosts of a STRICT_DNS cluster: every address of every name, each name refreshed by itself. An
 * address that two names share is two hosts, each with what its name says of it.
 */
import { printAuthority } from '../../../shared/addresses/authority.ts';
import type { HostResource } from '../../../shared/resources/clusters/cluster.ts';
import type { Resolution, ResolvedName } from '../../dns/name-resolver.ts';
import type { DnsTarget } from '../../resolved/resolved-bootstrap.ts';
import { DnsRefresh, type DnsAsker, type DnsEnvironment } from './dns-refresh.ts';
import type { HostSink, HostSource } from './host-source.ts';

export class StrictDnsSource implements HostSource {
  readonly #sink: HostSink;
  readonly #targets: readonly TargetHosts[];
  #waiting: number;

  constructor(targets: readonly DnsTarget[], environment: DnsEnvironment, sink: HostSink) {
    this.#sink = sink;
    this.#waiting = targets.length;
    const owner = this.#owner();
    this.#targets = targets.map(
      (target, at) => new TargetHosts({ ...target, at }, environment, owner),
    );
  }

  start(): void {
    if (this.#targets.length === 0) this.#sink.initialized();
    for (const { refresh } of this.#targets) refresh.start();
  }

  close(): void {
    for (const { refresh } of this.#targets) refresh.close();
  }

  #owner(): TargetOwner {
    return {
      ids: new Set(),
      sink: this.#sink,
      changed: () =>
        this.#sink.setHosts(
          this.#targets.flatMap(({ hosts }) => hosts),
          true,
        ),
      answeredFirst: () => {
        this.#waiting -= 1;
        if (this.#waiting === 0) this.#sink.initialized();
      },
    };
  }
}

interface TargetOwner {
  readonly sink: HostSink;
  /** The ids of the hosts of all names. */
  readonly ids: Set<string>;
  changed(): void;
  answeredFirst(): void;
}

class TargetHosts implements DnsAsker {
  readonly refresh: DnsRefresh;
  /** `at`: which of the cluster's names it is. */
  readonly #target: DnsTarget & { readonly at: number };
  readonly #owner: TargetOwner;
  #hasAnswer = false;
  #hosts: ReadonlyMap<string, HostResource> = new Map();

  constructor(
    target: DnsTarget & { readonly at: number },
    environment: DnsEnvironment,
    owner: TargetOwner,
  ) {
    this.#target = target;
    this.#owner = owner;
    this.refresh = new DnsRefresh(target.name, environment, this);
  }

  asked(): void {
    this.#owner.sink.count('update_attempt');
  }

  /** A name that does not exist is an answer: its hosts are gone. Without one they stay. */
  answered(resolution: Resolution): boolean {
    const { sink } = this.#owner;
    const isSuccess = resolution.outcome !== 'failed';
    if (isSuccess) {
      sink.count('update_success');
      this.#take(resolution.outcome === 'found' ? resolution.addresses : []);
    } else {
      sink.count('update_failure');
    }
    if (!this.#hasAnswer) {
      this.#hasAnswer = true;
      this.#owner.answeredFirst();
    }
    return isSuccess;
  }

  get hosts(): readonly HostResource[] {
    return [...this.#hosts.values()];
  }

  #take(addresses: readonly ResolvedName[]): void {
    const { sink, ids } = this.#owner;
    const before = this.#hosts;
    const hosts = new Map<string, HostResource>();
    const { port, host } = this.#target;
    for (const { address } of addresses) {
      if (hosts.has(address)) continue;
      const known = before.get(address);
      const at = { kind: 'ip', address, port } as const;
      hosts.set(address, known ?? { id: this.#newId(address), address: at, ...host });
    }
    for (const [address, { id }] of before) if (!hosts.has(address)) ids.delete(id);
    for (const { id } of hosts.values()) ids.add(id);
    sink.confirmed([...hosts.values()]);
    sink.setMaxHostWeight(hosts.size === 0 ? 1 : host.weight);
    if (hosts.size === before.size && [...before.keys()].every((each) => hosts.has(each))) {
      sink.count('update_no_rebuild');
      return;
    }
    this.#hosts = hosts;
    this.#owner.changed();
  }

  /** Its address, unless another name has a host of that id: most share none. */
  #newId(address: string): string {
    const id = printAuthority({ host: address, port: this.#target.port });
    return this.#owner.ids.has(id) ? `${id}#${this.#target.at}` : id;
  }
}
