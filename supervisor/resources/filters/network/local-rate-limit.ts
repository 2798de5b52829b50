/** Resolves the network filter local_ratelimit. */
import type { LocalRateLimit } from '../../../../shared/api/generated/envoy/extensions/filters/network/local_ratelimit/v3/local_rate_limit.ts';
import type { NetworkRateLimit } from '../../../../shared/resources/filters/network/local-rate-limit.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import type { Scope } from '../../scope.ts';
import { optional } from '../../values.ts';
import { resolveFeatureFlag } from '../common/feature-flag.ts';
import { resolveRateLimitBucket } from '../http/local-rate-limit.ts';
import { networkFilter } from '../network-filter-row.ts';

const FIELDS = knownFields<LocalRateLimit>([
  'stat_prefix',
  'token_bucket',
  'runtime_enabled',
  'share_key',
]);

export const LOCAL_RATE_LIMIT_NETWORK_FILTER = networkFilter(
  'envoy.filters.network.local_ratelimit',
  'envoy.extensions.filters.network.local_ratelimit.v3.LocalRateLimit',
  false,
  resolveRateLimit,
);

function resolveRateLimit(message: LocalRateLimit, scope: Scope): NetworkRateLimit {
  refuseOtherFields(message, FIELDS, scope);
  const place = scope.at('token_bucket');
  return {
    kind: 'network_local_ratelimit',
    statPrefix: message.stat_prefix ?? '',
    bucket: resolveRateLimitBucket(message.token_bucket ?? {}, place),
    ...optional('shareKey', message.share_key === '' ? undefined : message.share_key),
    enabled: resolveFeatureFlag(message.runtime_enabled),
  };
}
