/** What the network filters in front of a chain's last one may use of their worker. */
import type { RateLimitBucket } from '../../shared/resources/routes/rate-limit-bucket.ts';
import type { WorkerHeritage } from '../../shared/messages/heritage.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { Struct } from '../../shared/text/dictionary.ts';
import type { Runtime } from '../loop/runtime.ts';
import type { SharedCount } from '../loop/shared-count.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { HostModules } from '../scripts/host-modules.ts';
import type { GrpcServices } from '../services/grpc-services.ts';
import type { WantedHosts } from '../upstream/named-hosts/wanted-hosts.ts';
import type { TokenBucket } from './common/token-bucket.ts';

export interface NetworkFilterContext {
  readonly loop: WorkerLoop;
  readonly stats: StatWriter;
  readonly runtime: Runtime;
  /** Modules of the operator. */
  readonly scripts: HostModules;
  /** gRPC calls to services. */
  readonly grpc: GrpcServices;
  /** Who this server is. */
  readonly node: WorkerHeritage['node'];
  /** What the bootstrap says of this node beside its name and place. */
  readonly nodeMetadata: Struct;
  /** One worker may count what Envoy's main thread counts. */
  readonly isFirstWorker: boolean;
  /** Where connections to this cluster may have to wait for their host. */
  wantedHosts(cluster: string): WantedHosts | undefined;
  /** Tokens that all workers take from. */
  /** `owner`: whose it is; the listener's without one. */
  sharedBucket(options: RateLimitBucket, owner?: string): TokenBucket;
  /** Connections that all workers count together for the filter at this place. */
  sharedCount(place: string): SharedCount;
}
