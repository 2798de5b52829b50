/** What the balancers of policies may use of their cluster and worker. */
import type { HashPolicy } from '../../../shared/resources/routes/route.ts';
import type { Runtime } from '../../loop/runtime.ts';
import type { StatWriter } from '../../../shared/stats/stat-writer.ts';
import type { HostModules } from '../../scripts/host-modules.ts';
import type { TableStats } from '../hashing/table-stats.ts';
import type { LoadAwareParts } from './load-aware-localities.ts';
import type { ZonePickerParts } from './zone-picker.ts';

export interface BalancerContext extends Pick<
  ZonePickerParts,
  'ownLocality' | 'count' | 'countStructure'
> {
  /** Undefined: there is none, and hosts are chosen wherever they are. */
  readonly localCluster: ZonePickerParts['localCluster'] | undefined;
  /** In percent, where the runtime says no other. */
  readonly healthyPanicThreshold: number;
  readonly onDuplicates: (count: number) => void;
  readonly runtime: Runtime;
  readonly nowMs: () => number;
  /** The cluster's name, and what its statistics begin with. */
  readonly cluster: { readonly name: string; readonly statPrefix: string };
  readonly stats: StatWriter;
  /** Modules of the operator. */
  readonly scripts: HostModules;
  readonly countLoadAware: LoadAwareParts['countLoadAware'];
  /** Requests that this worker has open in the whole cluster. */
  readonly allActiveRequests: () => number;
  /** Told of each new table of a policy that hashes. */
  readonly onTable: (figures: TableStats) => void;
  /** What the cluster hashes in place of what routes say; a policy's own comes before it. */
  readonly hashPolicies: readonly HashPolicy[] | undefined;
}

export interface PolicyContext extends BalancerContext {
  /** In percent, as it is when hosts change. */
  readonly panicThreshold: () => number;
}

/** Which hosts of the cluster a policy chooses among. */
export interface PolicyPlace {
  /** Not all of them, but those of a subset. */
  readonly isSubset: boolean;
  readonly mayWeighLocalities: boolean;
  /** What a locality's weight is multiplied by, by `localityKey`. */
  readonly localityScale: ((locality: string) => number) | undefined;
}
