/**
 * Makes the source of a cluster's hosts after its discovery, with what clusters share: name servers
 * that are asked with the same settings, and caches of names. What control planes, files and
 * forward proxies bring is made by others.
 */
import { KindTable, type OfKind } from '../../../shared/resources/by-kind.ts';
import type { Clock } from '../../../shared/process/clock.ts';
import type { StatWriter } from '../../../shared/stats/stat-writer.ts';
import { DnsCache } from '../../dns/dns-cache.ts';
import { NameResolver } from '../../dns/name-resolver.ts';
import type {
  Discovery,
  DnsCacheSettings,
  ResolvedCluster,
  ResolverSettings,
  SubClusterSettings,
} from '../../resolved/resolved-bootstrap.ts';
import { ForwardProxySource } from './forward-proxy-source.ts';
import type { HostSink, HostSource } from './host-source.ts';
import { LogicalDnsSource } from './logical-dns-source.ts';
import { RequestedHostsSource } from './requested-hosts-source.ts';
import { StrictDnsSource } from './strict-dns-source.ts';

export interface SourceMakerOptions {
  readonly writer: StatWriter;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Makes the sources that control planes, files and forward proxies feed. */
export interface DiscoveredSources {
  /** For a cluster whose hosts a control plane or a file sends. */
  makeEndpointSource(resolved: ResolvedCluster, sink: HostSink): HostSource;
  /** For a forward proxy that makes clusters of its own. */
  makeSubClusterSource(name: string, settings: SubClusterSettings, sink: HostSink): HostSource;
}

export class SourceMaker {
  /** One row per kind of discovery. */
  readonly #sources = new KindTable<Discovery, [ResolvedCluster, HostSink], HostSource | undefined>(
    {
      aggregate: () => undefined,
      dns: (discovery, _, sink) => this.#makeDns(discovery, sink),
      endpoints: (_, resolved, sink) => this.#discovered.makeEndpointSource(resolved, sink),
      forward_proxy: ({ cache }, _, sink) => this.#makeForwardProxy(cache, sink),
      requested: ({ cleanupIntervalMs }, _, sink) =>
        new RequestedHostsSource(cleanupIntervalMs, this.#options.clock, sink),
      sub_clusters: ({ settings }, { resource }, sink) =>
        this.#discovered.makeSubClusterSource(resource.name, settings, sink),
    },
  );
  readonly #options: SourceMakerOptions;
  readonly #discovered: DiscoveredSources;
  /** By settings: clusters that ask the same name servers share a resolver. */
  readonly #resolvers = new Map<string, NameResolver>();
  /** By name: clusters that name the same cache share it. */
  readonly #caches = new Map<string, DnsCache>();

  constructor(options: SourceMakerOptions, discovered: DiscoveredSources) {
    this.#options = options;
    this.#discovered = discovered;
  }

  /** Undefined: the cluster has the hosts of its configuration, or none of its own. */
  make(resolved: ResolvedCluster, sink: HostSink): HostSource | undefined {
    const { discovery } = resolved;
    return discovery && this.#sources.make(discovery, resolved, sink);
  }

  close(): void {
    for (const resolver of this.#resolvers.values()) resolver.close();
    this.#resolvers.clear();
  }

  #makeDns({ settings, targets, isLogical }: OfKind<Discovery, 'dns'>, sink: HostSink): HostSource {
    const { clock, random } = this.#options;
    const resolver = this.#resolverOf(settings.resolver);
    const environment = { settings, resolver, clock, random };
    const [first] = targets;
    return isLogical && first !== undefined
      ? new LogicalDnsSource(first, environment, sink)
      : new StrictDnsSource(targets, environment, sink);
  }

  #makeForwardProxy(settings: DnsCacheSettings, sink: HostSink): HostSource {
    const cache = this.#cacheOf(settings);
    const cacheEnded = (): void => void this.#caches.delete(settings.name);
    return new ForwardProxySource({ cache, sink, cacheEnded });
  }

  /** The first cluster of a cache decides its settings. */
  #cacheOf(settings: DnsCacheSettings): DnsCache {
    let cache = this.#caches.get(settings.name);
    if (cache === undefined) {
      const resolver = this.#resolverOf(settings.dns.resolver);
      cache = new DnsCache({ ...this.#options, settings, resolver });
      this.#caches.set(settings.name, cache);
    }
    return cache;
  }

  #resolverOf(settings: ResolverSettings): NameResolver {
    const key = JSON.stringify(settings);
    let resolver = this.#resolvers.get(key);
    if (resolver === undefined) {
      resolver = new NameResolver({ settings, writer: this.#options.writer });
      this.#resolvers.set(key, resolver);
    }
    return resolver;
  }
}
