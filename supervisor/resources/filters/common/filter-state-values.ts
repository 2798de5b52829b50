/**
 * Resolves what filters keep under a key for those behind them:
 * envoy.extensions.filters.common.set_filter_state.
 */
import type { FilterStateValue as ValueMessage } from '../../../../shared/api/generated/envoy/extensions/filters/common/set_filter_state/v3/value.ts';
import type { FilterStateValue } from '../../../../shared/resources/filters/common/filter-state-value.ts';
import { resolveFormat } from '../../access-logs/format.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import type { Scope } from '../../scope.ts';

const FIELDS = knownFields<ValueMessage>([
  'object_key',
  'factory_key',
  'format_string',
  'read_only',
  'skip_if_empty',
  'shared_with_upstream',
]);

/**
 * Objects with a meaning of their own that is kept here, and those that are text whatever the key.
 */
const OBJECTS = new Set([
  'envoy.string',
  'envoy.filters.listener.original_dst.local_ip',
  'envoy.filters.listener.original_dst.remote_ip',
  'envoy.hashable_string',
  'envoy.network.application_protocols',
  'envoy.network.transport_socket.original_dst_address',
  'envoy.network.upstream_server_name',
  'envoy.tcp_proxy.cluster',
  'envoy.tcp_proxy.disable_tunneling',
  'envoy.tcp_proxy.per_connection_idle_timeout_ms',
  'envoy.upstream.dynamic_host',
  'envoy.upstream.dynamic_port',
]);
/** Those among them that balancers may hash. */
const HASHABLE = new Set([
  'envoy.hashable_string',
  'envoy.network.transport_socket.original_dst_address',
]);
/** Those that Envoy has beside them. */
const OTHER_OBJECTS = new Set([
  'envoy.network.ip',
  'envoy.network.network_namespace',
  'envoy.network.upstream_subject_alt_names',
  'envoy.ratelimit.hits_addend',
]);

export function resolveFilterStateValues(
  messages: readonly ValueMessage[] | undefined,
  scope: Scope,
): readonly FilterStateValue[] {
  return (messages ?? []).map((message, index) => resolveOne(message, scope.at(index)));
}

function resolveOne(message: ValueMessage, scope: Scope): FilterStateValue {
  refuseOtherFields(message, FIELDS, scope);
  const { object_key: key = '', factory_key: factory = '', shared_with_upstream: shared } = message;
  const object = factory === '' ? key : factory;
  const place = scope.at(factory === '' ? 'object_key' : 'factory_key');
  if (OTHER_OBJECTS.has(object)) place.unsupported(`filter state object '${object}' is`);
  else if (!OBJECTS.has(object)) {
    place.error('reference', `'${key}' does not have an object factory`);
  }
  return {
    key,
    format: resolveFormat(message.format_string, scope.at('format_string')),
    skipsEmpty: message.skip_if_empty ?? false,
    isReadOnly: message.read_only ?? false,
    ...(shared === 'ONCE' || shared === 'TRANSITIVE' ? { shared } : {}),
    isHashable: HASHABLE.has(object),
  };
}
