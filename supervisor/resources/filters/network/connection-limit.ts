/** Resolves connection_limit. */
import type { ConnectionLimit as Message } from '../../../../shared/api/generated/envoy/extensions/filters/network/connection_limit/v3/connection_limit.ts';
import type { ConnectionLimit } from '../../../../shared/resources/filters/network/connection-limit.ts';
import { formatPlace } from '../../../config/problem.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import type { Scope } from '../../scope.ts';
import { durationMsOr } from '../../values.ts';
import { resolveFeatureFlag } from '../common/feature-flag.ts';
import { networkFilter } from '../network-filter-row.ts';

const FIELDS = knownFields<Message>(['stat_prefix', 'max_connections', 'delay', 'runtime_enabled']);

export const CONNECTION_LIMIT_FILTER = networkFilter(
  'envoy.filters.network.connection_limit',
  'envoy.extensions.filters.network.connection_limit.v3.ConnectionLimit',
  false,
  resolveConnectionLimit,
);

function resolveConnectionLimit(message: Message, scope: Scope): ConnectionLimit {
  refuseOtherFields(message, FIELDS, scope);
  if (message.max_connections === undefined) {
    scope.error('conflict', "Field 'max_connections' is missing in: the connection limit");
  }
  return {
    kind: 'connection_limit',
    statPrefix: message.stat_prefix ?? '',
    maxConnections: Number(message.max_connections ?? 0),
    delayMs: durationMsOr(message.delay, 0),
    enabled: resolveFeatureFlag(message.runtime_enabled),
    place: formatPlace(scope.place),
  };
}
