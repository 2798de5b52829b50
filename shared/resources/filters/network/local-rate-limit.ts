/** Settings of the network filter local_ratelimit: connections per time. */
import type { RateLimitBucket } from '../../routes/rate-limit-bucket.ts';

export interface NetworkRateLimit {
  readonly kind: 'network_local_ratelimit';
  readonly statPrefix: string;
  readonly bucket: RateLimitBucket;
  readonly enabled: { readonly isDefault: boolean; readonly runtimeKey: string };
}
