/** Hosts of a STRICT_DNS cluster: every address of every name, each name refreshed by itself. */
import { isIPv6 } from 'node:net';
import type { HostResource } from '../../shared/resources/cluster.ts';
import type { Resolution, ResolvedName } from '../dns/name-resolver.ts';
import type { DnsTarget } from '../resources/resolved-bootstrap.ts';
import { DnsRefresh, type DnsAsker, type DnsEnvironment } from './dns-refresh.ts';
import type { HostSink, HostSource } from './host-source.ts';

export class StrictDnsSource implements HostSource {
  readonly #sink: HostSink;
  readonly #targets: readonly TargetHosts[];
  #waiting: number;

  constructor(targets: readonly DnsTarget[], environment: DnsEnvironment, sink: HostSink) {
    this.#sink = sink;
    this.#waiting = targets.length;
    this.#targets = targets.map((target) => new TargetHosts(target, environment, this.#owner()));
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
  changed(): void;
  answeredFirst(): void;
}

class TargetHosts implements DnsAsker {
  readonly refresh: DnsRefresh;
  readonly #target: DnsTarget;
  readonly #owner: TargetOwner;
  #hasAnswer = false;
  hosts: readonly HostResource[] = [];

  constructor(target: DnsTarget, environment: DnsEnvironment, owner: TargetOwner) {
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

  #take(addresses: readonly ResolvedName[]): void {
    const { sink } = this.#owner;
    const hosts = new Map(
      addresses.map(({ address }) => {
        const host = hostAt(this.#target, address);
        return [host.id, host];
      }),
    );
    sink.confirmed([...hosts.values()]);
    sink.setMaxHostWeight(hosts.size === 0 ? 1 : this.#target.host.weight);
    if (hosts.size === this.hosts.length && this.hosts.every(({ id }) => hosts.has(id))) {
      sink.count('update_no_rebuild');
      return;
    }
    this.hosts = [...hosts.values()];
    this.#owner.changed();
  }
}

function hostAt({ port, host }: DnsTarget, address: string): HostResource {
  const id = `${isIPv6(address) ? `[${address}]` : address}:${port}`;
  return { id, address: { kind: 'ip', address, port }, ...host };
}
