/** Hosts of a cluster that forwards to any name: those of its cache of names. */
import type { HostResource } from '../../../shared/resources/clusters/cluster.ts';
import type { DnsCache } from '../../dns/dns-cache.ts';
import type { CachedAddress, DnsCacheReader } from '../../dns/dns-cache-entry.ts';
import type { HostAnswered, HostSink, HostSource } from './host-source.ts';

export interface ForwardProxySourceOptions {
  readonly cache: DnsCache;
  readonly sink: HostSink;
  /** Nobody reads the cache any more. */
  readonly cacheEnded: () => void;
}

export class ForwardProxySource implements HostSource, DnsCacheReader {
  readonly #options: ForwardProxySourceOptions;
  readonly #hosts = new Map<string, HostResource>();

  constructor(options: ForwardProxySourceOptions) {
    this.#options = options;
  }

  start(): void {
    const { cache, sink } = this.#options;
    cache.addReader(this);
    sink.initialized();
  }

  close(): void {
    const { cache, cacheEnded } = this.#options;
    if (cache.removeReader(this)) cacheEnded();
  }

  wanted(host: string, answered: HostAnswered): void {
    this.#options.cache.load(host, answered);
  }

  used(host: string): void {
    this.#options.cache.touch(host);
  }

  found(host: string, { address, more, port }: CachedAddress): void {
    this.#hosts.set(host, {
      id: host,
      address: { kind: 'ip', address, port },
      ...(more.length === 0 ? {} : { moreAddresses: more }),
      hostname: host,
      weight: 1,
      priority: 0,
      health: 'healthy',
      region: '',
      zone: '',
      subZone: '',
      canary: false,
    });
    this.#tell();
  }

  removed(host: string): void {
    if (this.#hosts.delete(host)) this.#tell();
  }

  #tell(): void {
    this.#options.sink.setHosts([...this.#hosts.values()]);
  }
}
