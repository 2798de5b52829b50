/**
 * The host of a LOGICAL_DNS cluster: one name whose first address connections use, and the others
 * where that one does not take them. Another first address is another host.
 */
import { printAuthority } from '../../../shared/addresses/authority.ts';
import type { Resolution } from '../../dns/name-resolver.ts';
import type { DnsTarget } from '../../resolved/resolved-bootstrap.ts';
import { DnsRefresh, type DnsAsker, type DnsEnvironment } from './dns-refresh.ts';
import type { HostSink, HostSource } from './host-source.ts';

export class LogicalDnsSource implements HostSource, DnsAsker {
  readonly #target: DnsTarget;
  readonly #sink: HostSink;
  readonly #refresh: DnsRefresh;
  /** The addresses of the last answer. */
  #seen = '';
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
    const found = resolution.outcome === 'found' ? resolution.addresses : [];
    const addresses = found.map(({ address }) => address);
    if (addresses.length === 0) {
      this.#sink.count('update_failure');
    } else {
      this.#sink.count('update_success');
      this.#take(addresses);
    }
    if (!this.#hasAnswer) {
      this.#hasAnswer = true;
      this.#sink.initialized();
    }
    return addresses.length > 0;
  }

  #take(addresses: readonly string[]): void {
    const seen = addresses.join(' ');
    if (seen === this.#seen) return this.#sink.count('update_no_rebuild');
    this.#seen = seen;
    const { port, host } = this.#target;
    const [address = '', ...moreAddresses] = addresses;
    this.#sink.setHosts([
      {
        id: printAuthority({ host: address, port }),
        address: { kind: 'ip', address, port },
        ...(moreAddresses.length === 0 ? {} : { moreAddresses }),
        ...host,
      },
    ]);
  }
}
