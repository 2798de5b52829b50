/** The network filter local_ratelimit: closes connections that come too often. */
import type { NetworkRateLimit } from '../../../shared/resources/filters/network/local-rate-limit.ts';
import { readBoolean } from '../../../shared/runtime/read-runtime.ts';
import { dottedPrefix } from '../../../shared/stats/stat-scope.ts';
import { NETWORK_LOCAL_RATE_LIMIT } from '../../../shared/resources/filters/network/local-rate-limit.ts';
import type { NetworkFilterContext } from '../network-filter-context.ts';
import type { NetworkGate } from '../network-gate.ts';

/** No listener is named so. */
const SHARED = '\0share_key';

export function makeRateLimitGate(
  filter: NetworkRateLimit,
  context: NetworkFilterContext,
): NetworkGate {
  const { loop, stats, runtime } = context;
  const base = stats.defineBlock(
    NETWORK_LOCAL_RATE_LIMIT,
    dottedPrefix(`local_rate_limit.${filter.statPrefix}`),
  );
  const { shareKey: place } = filter;
  // Whatever listener has the same key and the same bucket, as in Envoy.
  const bucket =
    place === undefined
      ? context.sharedBucket(filter.bucket)
      : context.sharedBucket({ ...filter.bucket, place }, SHARED);
  const { enabled } = filter;
  return {
    onConnection() {
      if (!readBoolean(runtime.snapshot, enabled.runtimeKey, enabled.isDefault)) return true;
      if (bucket.take(loop.clock.ms)) return true;
      stats.increment(base + NETWORK_LOCAL_RATE_LIMIT.index.rate_limited);
      return false;
    },
    release: () => stats.releaseBlock(base),
  };
}
