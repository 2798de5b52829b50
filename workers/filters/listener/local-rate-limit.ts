/** The listener filter local_ratelimit: closes connections that come too often, unread. */
import {
  LISTENER_LOCAL_RATE_LIMIT,
  type ListenerRateLimitSettings,
} from '../../../shared/resources/filters/listener/local-rate-limit.ts';
import { readBoolean } from '../../../shared/runtime/read-runtime.ts';
import { dottedPrefix } from '../../../shared/stats/stat-scope.ts';
import type { ListenerFilterRunner } from '../../listener/listener-filter.ts';
import type { ListenerFilterContext } from '../listener-filters.ts';

export function makeListenerRateLimit(
  filter: ListenerRateLimitSettings,
  { env: { stats }, loop, runtime, sharedBucket }: ListenerFilterContext,
): ListenerFilterRunner {
  const base = stats.defineBlock(
    LISTENER_LOCAL_RATE_LIMIT,
    dottedPrefix(`listener_local_ratelimit.${filter.statPrefix}`),
  );
  const bucket = sharedBucket(filter.bucket);
  const { runtimeKey, isDefault } = filter.enabled;
  return {
    accept() {
      if (!readBoolean(runtime.snapshot, runtimeKey, isDefault)) return true;
      if (bucket.take(loop.clock.ms)) return true;
      stats.increment(base + LISTENER_LOCAL_RATE_LIMIT.index.rate_limited);
      return false;
    },
    release: () => stats.releaseBlock(base),
  };
}
