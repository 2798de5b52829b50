/**
 * The host of a LOGICAL_DNS cluster: one name whose first address new connections use. The host
 * stays the same when the address changes, and so do its connections and figures.
 */
import type { Resolution } from '../dns/name-resolver.ts';
import type { DnsTarget } from '../resources/resolved-bootstrap.ts';
import { DnsRefresh, type DnsAsker, type DnsEnvironment } from './dns-refresh.ts';
import type { HostSink, HostSource } from './host-source.ts';

export class LogicalDnsSource implements HostSource, DnsAsker {
  readonly #target: DnsTarget;
  readonly #sink: HostSink;
  readonly #refresh: DnsRefresh;
  #address: string | undefined;
  #hasAnswer = false;

  constructor(target: DnsTarget, environment: DnsEnvironment, sink: HostSink) {
    this.#target = target;
    this.#sink = sink;
    this.#refresh = new DnsRefresh(target.name, environment, this);
  }

  start(): void {
    this.#refresh.start();
  }

  close(): void {
    this.#refresh.close();
  }

  asked(): void {
    this.#sink.count('update_attempt');
  }

  /** A name without an address is a failure here: the host keeps the address that it had. */
  answered(resolution: Resolution): boolean {
    const address = resolution.outcome === 'found' ? resolution.addresses[0]?.address : undefined;
    if (address === undefined) {
      this.#sink.count('update_failure');
    } else {
      this.#sink.count('update_success');
      this.#take(address);
    }
    if (!this.#hasAnswer) {
      this.#hasAnswer = true;
      this.#sink.initialized();
    }
    return address !== undefined;
  }

  #take(address: string): void {
    if (address === this.#address) return this.#sink.count('update_no_rebuild');
    this.#address = address;
    const { name, port, host } = this.#target;
    this.#sink.setHosts([
      { id: `${name}:${port}`, address: { kind: 'ip', address, port }, ...host },
    ]);
  }
}
