/** Opens subscriptions: makes each one's source from what the configuration says of it. */
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { Clock } from '../../../shared/process/clock.ts';
import type { ConfigSource, GrpcSource } from '../../resolved/config-source.ts';
import type { DecodeEnvironment } from './decode-response.ts';
import type { DiscoveryStats } from './discovery-stats.ts';
import type { DiscoveryConsumer, DiscoverySource, DiscoveryUpdate } from './discovery-update.ts';
import type { ConfigHistory } from '../../store/config-history.ts';
import type { StatStore } from '../../stats/stat-store.ts';
import { DeltaMux } from './delta-mux.ts';
import type { Mux } from './discovery-request.ts';
import { GrpcMux } from './grpc-mux.ts';
import { FileSource } from './file-source.ts';
import type { KeptResources } from './kept-resources.ts';
import type { ControlPlaneClusters } from '../../services/control-plane-clusters.ts';
import { GrpcConnections } from '../../services/grpc-connections.ts';
import { RestClient } from '../../services/rest-client.ts';
import { RestSource } from './rest-source.ts';
import { ScriptSource } from './script-source.ts';
import {
  RESOURCE_TYPES,
  type DiscoveryKind,
  type ResourceType,
} from '../../resolved/resource-kinds.ts';
import { Subscription } from './subscription.ts';
import { wordsOf } from './subscription-texts.ts';

export interface SourcesOptions {
  readonly clock: Clock;
  readonly decoding: DecodeEnvironment;
  readonly clusters: ControlPlaneClusters;
  /** Whom a control plane serves: envoy.config.core.v3.Node. */
  readonly node: JsonObject;
  /** The one stream of sources that say `ads`; absent: there is none. */
  readonly aggregated: GrpcSource | undefined;
  readonly statStore: StatStore;
  /** Absent: nothing is kept for another start. */
  readonly kept?: KeptResources | undefined;
  readonly history?: ConfigHistory;
  readonly log: (level: 'debug' | 'info' | 'warning' | 'error', text: string) => void;
}

export interface Interest {
  readonly kind: DiscoveryKind;
  readonly source: ConfigSource;
  /** None: all that there are. */
  readonly names: readonly string[];
  readonly stats: DiscoveryStats;
  readonly consumer: DiscoveryConsumer;
}

const AGGREGATED = {
  grpcService: 'envoy.service.discovery.v3.AggregatedDiscoveryService',
  grpcNoun: 'AggregatedResources',
} as const;

/** Sources that nobody else has to answer for. */
const LOCAL: ReadonlySet<ConfigSource['kind']> = new Set(['path', 'script']);

/** Resources begin to come with `start`; nothing comes after `close`. */
export interface OpenSubscription {
  start(): void;
  /** One more name, where the source takes names one by one; others ignore it. */
  want(name: string): void;
  close(): void;
}

export class DiscoverySources {
  readonly #options: SourcesOptions;
  readonly #connections = new GrpcConnections();
  /** By cluster. */
  readonly #restClients = new Map<string, RestClient>();
  #aggregated: Mux | undefined;

  constructor(options: SourcesOptions) {
    this.#options = options;
  }

  open(interest: Interest): OpenSubscription {
    const { clock } = this.#options;
    const { initialFetchTimeoutMs } = interest.source;
    const { kept } = this.#options;
    // Files and modules are there without anybody's answer.
    const isKept = kept !== undefined && !LOCAL.has(interest.source.kind);
    const key = isKept
      ? `${interest.kind} ${JSON.stringify([interest.source, interest.names])}`
      : '';
    const keeping = isKept && {
      earlier: () => kept.take(key),
      accepted: (update: DiscoveryUpdate) => kept.keep(key, update),
    };
    const subscription = new Subscription({
      ...(keeping === false ? {} : keeping),
      type: RESOURCE_TYPES[interest.kind],
      names: interest.names,
      stats: interest.stats,
      consumer: interest.consumer,
      clock,
      initialFetchTimeoutMs,
      origin: originOf(interest.source),
      ...(this.#options.history !== undefined && { history: this.#options.history }),
      words: wordsOf(interest.source.kind, RESOURCE_TYPES[interest.kind]),
      log: (level, text) => this.#options.log(level, text),
    });
    const source = this.#makeSource(interest.source, subscription, interest.stats.prefix);
    return {
      start: () => source.start(),
      want: (name) => source.want?.(name),
      close: () => {
        source.close();
        subscription.close();
        if (isKept) kept.forget(key);
      },
    };
  }

  /** Answers of one kind on the stream that sources share: whether what says so waits. */
  hold(kind: DiscoveryKind, isHeld: boolean): void {
    this.#aggregated?.hold(RESOURCE_TYPES[kind], isHeld);
  }

  /** Ends what sources share. */
  close(): void {
    this.#aggregated?.close();
    this.#connections.close();
    for (const client of this.#restClients.values()) client.close();
  }

  #restClient(cluster: string): RestClient {
    const known = this.#restClients.get(cluster) ?? new RestClient();
    this.#restClients.set(cluster, known);
    return known;
  }

  #aggregatedMux(): Mux | undefined {
    const { aggregated } = this.#options;
    if (aggregated === undefined) return undefined;
    this.#aggregated ??= this.#makeMux(aggregated, AGGREGATED, '');
    return this.#aggregated;
  }

  #makeMux(
    source: GrpcSource,
    { grpcService, grpcNoun }: Pick<ResourceType, 'grpcService' | 'grpcNoun'>,
    statPrefix: string,
  ): Mux {
    const options = { ...this.#options, connections: this.#connections, source, statPrefix };
    return source.isDelta
      ? new DeltaMux({ ...options, method: `/${grpcService}/Delta${grpcNoun}` })
      : new GrpcMux({ ...options, method: `/${grpcService}/Stream${grpcNoun}` });
  }

  #makeSource(
    source: ConfigSource,
    subscription: Subscription,
    statPrefix: string,
  ): DiscoverySource {
    const { decoding, clock, clusters, node, log } = this.#options;
    switch (source.kind) {
      case 'path':
        return new FileSource({
          path: source.path,
          watchedDirectory: source.watchedDirectory,
          subscription,
          decoding,
          clock,
        });
      case 'script':
        return new ScriptSource({ discovery: source, subscription, decoding, clock, log });
      case 'rest':
        return new RestSource({
          ...source,
          client: this.#restClient(source.cluster),
          clusters,
          node,
          clock,
          subscription,
          decoding,
        });
      case 'grpc': {
        const mux = this.#makeMux(source, subscription.type, statPrefix);
        return {
          start: () => mux.add(subscription),
          want: (name) => mux.want(subscription, name),
          close: () => mux.close(),
        };
      }
      case 'ads':
        return {
          start: () => {
            const mux = this.#aggregatedMux();
            if (mux === undefined) subscription.failed('there is no ads_config');
            else mux.add(subscription);
          },
          want: (name) => this.#aggregated?.want(subscription, name),
          close: () => this.#aggregated?.remove(subscription),
        };
    }
  }
}

/** Who brings the resources, as the history says it. */
function originOf(source: ConfigSource): string {
  switch (source.kind) {
    case 'path':
      return source.path;
    case 'script':
      return source.module.entry;
    case 'rest':
      return `rest ${source.cluster}`;
    case 'grpc':
      return `grpc ${source.target.kind === 'cluster' ? source.target.cluster : source.target.uri}`;
    case 'ads':
      return 'ads';
  }
}
