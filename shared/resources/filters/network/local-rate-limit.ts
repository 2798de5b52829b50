/** Settings of the network filter local_ratelimit: connections per time. */
import { defineTemplate } from '../../../stats/template.ts';
import { counter } from '../../../stats/templates/spec.ts';
import type { RateLimitBucket } from '../../routes/rate-limit-bucket.ts';
import { declareKind } from '../declare-filter.ts';

/** Prefix: `local_rate_limit.<stat_prefix>.` */
export const NETWORK_LOCAL_RATE_LIMIT = defineTemplate('network_local_rate_limit', {
  rate_limited: counter('Connections closed by the limit'),
});

export interface NetworkRateLimit {
  readonly kind: 'network_local_ratelimit';
  readonly statPrefix: string;
  readonly bucket: RateLimitBucket;
  /** All filters with this key and an equal bucket take from the same one. */
  readonly shareKey?: string;
  readonly enabled: { readonly isDefault: boolean; readonly runtimeKey: string };
}

export const NETWORK_LOCAL_RATE_LIMIT_DECLARATION =
  declareKind<NetworkRateLimit>(NETWORK_LOCAL_RATE_LIMIT);
