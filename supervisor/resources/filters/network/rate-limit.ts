/** Resolves the network filter ratelimit. */
import type { RateLimitDescriptor } from '../../../../shared/api/generated/envoy/extensions/common/ratelimit/v3/ratelimit.ts';
import type { RateLimit } from '../../../../shared/api/generated/envoy/extensions/filters/network/ratelimit/v3/rate_limit.ts';
import { toByteString } from '../../../../shared/regex/byte-string.ts';
import type { AskedNetworkRateLimit } from '../../../../shared/resources/filters/network/rate-limit.ts';
import { checkFormat } from '../../access-logs/format.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { resolveGrpcService } from '../../grpc-service.ts';
import type { Scope } from '../../scope.ts';
import { durationMsOr } from '../../values.ts';
import { networkFilter } from '../network-filter-row.ts';

const DEFAULT_TIMEOUT_MS = 20;

const FIELDS = knownFields<RateLimit>([
  'stat_prefix',
  'domain',
  'descriptors',
  'timeout',
  'failure_mode_deny',
  'rate_limit_service',
]);
const DESCRIPTOR_FIELDS = knownFields<RateLimitDescriptor>(
  ['entries'],
  // Envoy sends the entries alone.
  ['limit', 'hits_addend'],
);

export const RATE_LIMIT_NETWORK_FILTER = networkFilter(
  'envoy.filters.network.ratelimit',
  'envoy.extensions.filters.network.ratelimit.v3.RateLimit',
  false,
  resolveRateLimit,
);

function resolveRateLimit(message: RateLimit, scope: Scope): AskedNetworkRateLimit | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const { timeout: _, ...service } = message.rate_limit_service?.grpc_service ?? {};
  const target = resolveGrpcService(service, scope.at('rate_limit_service', 'grpc_service'));
  return (
    target && {
      kind: 'network_ratelimit',
      statPrefix: message.stat_prefix ?? '',
      target,
      timeoutMs: Math.floor(durationMsOr(message.timeout, DEFAULT_TIMEOUT_MS)),
      domain: message.domain ?? '',
      descriptors: (message.descriptors ?? []).map((descriptor, index) =>
        resolveDescriptor(descriptor, scope.at('descriptors', index)),
      ),
      failureModeDeny: message.failure_mode_deny ?? false,
    }
  );
}

function resolveDescriptor(
  message: RateLimitDescriptor,
  scope: Scope,
): AskedNetworkRateLimit['descriptors'][number] {
  refuseOtherFields(message, DESCRIPTOR_FIELDS, scope);
  return (message.entries ?? []).map(({ key = '', value = '' }, index) => ({
    key: toByteString(key),
    format: checkFormat(value, scope.at('entries', index, 'value')),
  }));
}
