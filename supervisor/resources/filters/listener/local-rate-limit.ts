/** Resolves the listener filter local_ratelimit. */
import type { LocalRateLimit } from '../../../../shared/api/generated/envoy/extensions/filters/listener/local_ratelimit/v3/local_ratelimit.ts';
import type { ListenerRateLimitSettings } from '../../../../shared/resources/filters/listener/local-rate-limit.ts';
import { extension } from '../../extensions.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { resolveFeatureFlag } from '../common/feature-flag.ts';
import { resolveRateLimitBucket } from '../http/local-rate-limit.ts';

const FIELDS = knownFields<LocalRateLimit>(['stat_prefix', 'token_bucket', 'runtime_enabled']);

export const LISTENER_LOCAL_RATE_LIMIT_FILTER = extension(
  'envoy.filters.listener.local_ratelimit',
  'envoy.extensions.filters.listener.local_ratelimit.v3.LocalRateLimit',
  (message: LocalRateLimit, scope): ListenerRateLimitSettings => {
    refuseOtherFields(message, FIELDS, scope);
    return {
      kind: 'listener_local_ratelimit',
      statPrefix: message.stat_prefix ?? '',
      bucket: resolveRateLimitBucket(message.token_bucket ?? {}, scope.at('token_bucket')),
      enabled: resolveFeatureFlag(message.runtime_enabled),
    };
  },
);
