/** Settings of envoy.filters.http.bandwidth_share. */
import type { AccessLogFormat } from '../../../access-log.ts';
import type { MatcherTree } from '../../../routes/matcher-tree.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';

export interface SharedBandwidth {
  /** Limits with the same id have the same bytes. */
  readonly bucketId: string;
  readonly runtimeKey: string;
  /** KiB in a second; 0: nothing is limited. */
  readonly kilobytes: number;
}

export interface TenantOptions {
  readonly weight: number;
  readonly hasOwnStats: boolean;
}

/** The format of a tenant's name. */
export interface TenantName {
  readonly kind: 'tenant_name';
  readonly format: AccessLogFormat;
}

export interface BandwidthShareOptions {
  readonly request?: SharedBandwidth;
  readonly response?: SharedBandwidth;
  readonly fillIntervalMs: number;
  /** Says in trailers how long bodies took; undefined: it does not. */
  readonly trailerPrefix?: string;
  /** Absent: every request belongs to the tenant without a name. */
  readonly tenantName?: MatcherTree<TenantName>;
  readonly tenants: readonly (readonly [name: string, options: TenantOptions])[];
  readonly otherTenants: TenantOptions;
}

export type BandwidthShareFilterSettings = FilterResource<'bandwidth_share', BandwidthShareOptions>;

export const BANDWIDTH_SHARE_DECLARATION = declareKind<BandwidthShareFilterSettings>();
