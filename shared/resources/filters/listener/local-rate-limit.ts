/** Settings of the listener filter local_ratelimit: connections per time, before anything is read. */
import { defineTemplate } from '../../../stats/template.ts';
import { counter } from '../../../stats/templates/spec.ts';
import type { RateLimitBucket } from '../../routes/rate-limit-bucket.ts';
import { declareKind } from '../declare-filter.ts';
import type { ListenerFilterResource } from '../listener-filter.ts';

/** Prefix: `listener_local_ratelimit.<stat_prefix>.` */
export const LISTENER_LOCAL_RATE_LIMIT = defineTemplate('listener_local_rate_limit', {
  rate_limited: counter('Connections closed by the limit before a filter chain was chosen'),
});

export type ListenerRateLimitSettings = ListenerFilterResource<'listener_local_ratelimit'> & {
  readonly statPrefix: string;
  readonly bucket: RateLimitBucket;
  readonly enabled: { readonly isDefault: boolean; readonly runtimeKey: string };
};

export const LISTENER_LOCAL_RATE_LIMIT_DECLARATION =
  declareKind<ListenerRateLimitSettings>(LISTENER_LOCAL_RATE_LIMIT);
