/** How a connection manager names itself, and whether its own failures are told in `proxy-status`. */
import type {
  HttpConnectionManager as ManagerMessage,
  HttpConnectionManager_ProxyStatusConfig as StatusMessage,
} from '../../../shared/api/generated/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.ts';
import type { ProxyStatusOptions } from '../../../shared/resources/listener.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';

const FIELDS = knownFields<StatusMessage>([
  'remove_details',
  'remove_connection_termination_details',
  'remove_response_flags',
  'set_recommended_response_code',
  'use_node_id',
  'literal_proxy_name',
]);

const SERVER_NAME = 'envoy';

export function serverName(message: ManagerMessage): string {
  return message.server_name ?? SERVER_NAME;
}

export function resolveProxyStatus(
  manager: ManagerMessage,
  scope: Scope,
): ProxyStatusOptions | undefined {
  const { proxy_status_config: message } = manager;
  if (message === undefined) return undefined;
  refuseOtherFields(message, FIELDS, scope.at('proxy_status_config'));
  const details = {
    termination: message.remove_connection_termination_details !== true,
    flags: message.remove_response_flags !== true,
  };
  return {
    name: proxyName(message, manager, scope),
    ...(message.remove_details === true ? {} : { details }),
    setsStatus: message.set_recommended_response_code ?? false,
  };
}

/** `use_node_id` counts as set whatever it says, as in Envoy. */
function proxyName(message: StatusMessage, manager: ManagerMessage, scope: Scope): string {
  if (message.use_node_id !== undefined) return scope.context.nodeName?.id ?? '';
  return message.literal_proxy_name ?? serverName(manager);
}
