/** What the filters of one connection manager share. */
import type { UpstreamHttpOptions } from '../../shared/resources/clusters/cluster.ts';
import type { QuotaClients } from './http/rate-limit-quota/quota-clients.ts';
import type { GcpAudience } from '../../shared/resources/clusters/gcp-audience.ts';
import type { WorkerHeritage } from '../../shared/messages/heritage.ts';
import type { Metadata } from '../../shared/resources/routes/route.ts';
import type { WantedRoutes } from '../../shared/resources/routes/wanted-routes.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { RouteDemand } from '../routing/route-demand.ts';
import type { LineLevel as LogLevel } from '../../shared/logging/levels.ts';
import type { RateLimitBucket } from '../../shared/resources/routes/rate-limit-bucket.ts';
import type { Dictionary, Struct } from '../../shared/text/dictionary.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import type { ServiceClient } from '../services/service-client.ts';
import type { CompressorOffer } from './http/compressor/accept-encoding.ts';
import type { ExtensionStore } from './extension-store.ts';
import type { Runtime } from '../loop/runtime.ts';
import type { GrpcServices } from '../services/grpc-services.ts';
import type { Taps } from '../tap/taps.ts';
import type { CallStats } from '../upstream/call-stats.ts';
import type { Retained } from '../upstream/hosts/retained.ts';
import type { SecretStore } from '../tls/secret-store.ts';
import type { WantedHosts } from '../upstream/named-hosts/wanted-hosts.ts';
import type { SharedCount } from '../loop/shared-count.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { ScriptModules } from './http/script/script-modules.ts';
import type { StartTasks } from './start-tasks.ts';
import type { BucketState, TokenBucket } from './common/token-bucket.ts';

/** A cluster as filters count calls to it: its stats stay defined while somebody holds it. */
export interface CallCluster {
  readonly stats: { readonly calls: CallStats };
  readonly retained: Retained;
  readonly resource: {
    readonly name: string;
    readonly metadata?: Metadata;
    readonly gcpAudience?: GcpAudience;
    readonly upstreamHttp: Pick<UpstreamHttpOptions, 'protocol'>;
  };
}

export interface FilterContext {
  readonly loop: WorkerLoop;
  readonly stats: StatWriter;
  readonly runtime: Runtime;
  /** `http.<stat_prefix>.` as it was written; fault, rbac and the compressors count by it. */
  readonly statPrefix: string;
  /** The same as a scope, which the other filters count by. */
  readonly statScope: string;
  /** Counts a request whose body was larger than a filter may keep. */
  countRequestTooLarge(): void;
  /** Likewise an answer. */
  countResponseTooLarge(): void;
  /** Bytes that a filter may keep of one message. */
  readonly bufferLimitBytes: number;
  /** This server's own health was failed by an operator. */
  isHealthCheckFailed(): boolean;
  /**
   * Hosts of a cluster; undefined for an unknown one. `usable` counts healthy and degraded hosts.
   */
  clusterHealth(name: string): { readonly total: number; readonly usable: number } | undefined;
  /** Ends in a dot; undefined for a cluster that is not there. */
  clusterStatPrefix(name: string): string | undefined;
  /** What configuration says of a cluster by namespace; undefined for an unknown one. */
  clusterMetadata(name: string): Dictionary<Struct> | undefined;
  /** Sends requests of the filter's own to clusters. */
  readonly services: ServiceClient;
  /**
   * Where requests for this cluster may have to wait for their host; undefined for most clusters.
   */
  wantedHosts(cluster: string): WantedHosts | undefined;
  /** What a request without a route may wait for; undefined: for nothing. */
  missingRoutes(headers: HeaderMap): WantedRoutes | undefined;
  /** Where calls to a cluster count; undefined for an unknown one. */
  callCluster(name: string): CallCluster | undefined;
  readonly routeDemand: RouteDemand;
  /** Settings that came apart from their filters. */
  readonly extensions: ExtensionStore;
  /** Modules of scripts that this worker has loaded. */
  readonly scripts: ScriptModules;
  /** Clients of quota services, one for all filters of a service's domain. */
  readonly quotas: QuotaClients;
  /** The node's own cluster name. */
  readonly nodeCluster: string;
  /** Who this server is. */
  readonly node: WorkerHeritage['node'];
  /** What the bootstrap says of the node beside its name and place. */
  readonly nodeMetadata: Struct;
  /** What is being recorded now. */
  readonly taps: Taps;
  /** What the compressors that a response passes offer, in the order of the chain. */
  readonly compressorOffers: WeakMap<StreamInfo, CompressorOffer[]>;
  /** gRPC calls to services. */
  readonly grpc: GrpcServices;
  /** Tokens that all workers take from. */
  sharedBucket(options: RateLimitBucket): TokenBucket;
  /** A number that all workers have under this name. */
  sharedState(name: string): BucketState;
  /** The same, whichever listener asks. */
  processState(name: string): BucketState;
  /** Counts what all workers have under way under this name, whichever listener asks. */
  sharedCount(name: string): SharedCount;
  /** Secrets that configuration names, as they are now. */
  readonly secrets: SecretStore;
  /** What is done as soon as the filter and the clusters are in force. */
  readonly startTasks: StartTasks;
  /** One worker may count what Envoy's main thread counts. */
  readonly isFirstWorker: boolean;
  /** A line for the log of the process. */
  log(level: LogLevel, component: string, text: string): void;
  /** Called with every block that a filter defined; released with the connection manager. */
  onBlock(base: number): void;
  /** Called when the connection manager goes. */
  onRelease(act: () => void): void;
}

/**
 * The compiled form of settings that come with each request's route, made once per settings object.
 */
export class CompiledSettings<Settings extends object, Compiled> {
  readonly #compiled = new WeakMap<Settings, Compiled>();
  readonly #compile: (settings: Settings) => Compiled;

  constructor(compile: (settings: Settings) => Compiled) {
    this.#compile = compile;
  }

  of(settings: Settings): Compiled {
    let compiled = this.#compiled.get(settings);
    if (compiled === undefined) {
      compiled = this.#compile(settings);
      this.#compiled.set(settings, compiled);
    }
    return compiled;
  }
}
