/** Checks listeners without a socket, which take connections of clusters of the same worker. */
import type { Listener as ListenerMessage } from '../../../shared/api/generated/envoy/config/listener/v3/listener.ts';
import type { Scope } from '../scope.ts';

/** What needs a socket. */
const SOCKET_FIELDS = [
  'transparent',
  'freebind',
  'tcp_backlog_size',
  'tcp_fast_open_queue_length',
  'enable_reuse_port',
  'enable_mptcp',
  'connection_balance_config',
] as const;

export function checkInternal(message: ListenerMessage, scope: Scope): void {
  const { name = '' } = message;
  const adding = `error adding listener named '${name}'`;
  if (scope.context.allowsInternalListeners === false) {
    const text = `${adding}: InternalListener bootstrap extension is mandatory`;
    const hint = "write envoy.bootstrap.internal_listener under 'bootstrap_extensions'";
    scope.at('internal_listener').error('conflict', text, hint);
  }
  for (const field of ['address', 'additional_addresses'] as const) {
    if (message[field] === undefined) continue;
    const text = `error adding listener '${name}': address should not be used when an internal listener config is provided`;
    scope.at(field).error('conflict', text);
  }
  if ((message.socket_options ?? []).length > 0) {
    scope.at('socket_options').error('conflict', `${adding}: does not support socket option`);
  }
  for (const field of SOCKET_FIELDS) {
    const value = message[field];
    if (value === undefined || value === false) continue;
    scope.at(field).error('conflict', `${adding}: has unsupported tcp listener feature`);
  }
}
