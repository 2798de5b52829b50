/** At which moments besides a request's end an access log has a line of it. */
import type {
  HttpConnectionManager as ManagerMessage,
  HttpConnectionManager_HcmAccessLogOptions as LogOptions,
} from '../../../shared/api/generated/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.ts';
import type { LogMoments } from '../../../shared/resources/listener.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { durationMs, optional } from '../values.ts';

const FIELDS = knownFields<LogOptions>([
  'access_log_flush_interval',
  'flush_access_log_on_new_request',
  'flush_log_on_tunnel_successfully_established',
]);

/**
 * Undefined: at the end alone. The options may stand in the connection manager itself, as they once
 * did.
 */
export function resolveLogMoments(message: ManagerMessage, scope: Scope): LogMoments | undefined {
  const { access_log_options: options } = message;
  refuseOtherFields(options ?? {}, FIELDS, scope.at('access_log_options'));
  for (const name of ['access_log_flush_interval', 'flush_access_log_on_new_request'] as const) {
    if (options === undefined || message[name] === undefined) continue;
    scope.at(name).error('conflict', `Only one of access_log_options or ${name} can be specified.`);
  }
  const { access_log_flush_interval: interval, flush_access_log_on_new_request: isNew } =
    options ?? message;
  const tunnel = options?.flush_log_on_tunnel_successfully_established ?? false;
  if (interval === undefined && isNew !== true && !tunnel) return undefined;
  return {
    newRequest: isNew ?? false,
    tunnelEstablished: tunnel,
    ...optional('intervalMs', interval === undefined ? undefined : durationMs(interval)),
  };
}
