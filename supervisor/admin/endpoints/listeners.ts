/** `/listeners`: names and bound addresses, as text or envoy.admin.v3.Listeners. */
import type { JsonObject } from '../../../shared/api/well-known.ts';
import { escapeControls } from '../../../shared/logging/escape.ts';
import { printInternal } from '../../../shared/resources/clusters/cluster.ts';
import type { BoundAddress } from '../../../shared/resources/listener.ts';
import type { AdminContext, ListenerStatus } from '../admin-context.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import { oneOf, words } from '../../http-pages/params.ts';
import type { RequestOf } from '../admin-route.ts';
import { addressMessage, internalMessage } from '../address-message.ts';
import { describeAddress } from '../bind-admin.ts';
import { jsonResponse, textResponse } from '../http/responses.ts';

export const LISTENERS_PARAMS = {
  format: oneOf({ help: 'File format to use', values: words('text', 'json'), byDefault: 'text' }),
};

export function answerListeners(
  { params }: RequestOf<typeof LISTENERS_PARAMS>,
  context: AdminContext,
): AdminResponse {
  const listeners = context.listeners.list();
  return params.format === 'json'
    ? jsonResponse(renderJson(listeners))
    : textResponse(renderText(listeners));
}

function renderText(listeners: readonly ListenerStatus[]): string {
  const lines = listeners.flatMap(({ name, addresses, isInternal = false }) =>
    isInternal
      ? [`${name}::${printInternal(name, '')}`]
      : addresses.map((address) => `${name}::${describeAddress(address)}`),
  );
  return lines.map((line) => `${escapeControls(line)}\n`).join('');
}

function renderJson(listeners: readonly ListenerStatus[]): JsonObject {
  if (listeners.length === 0) return {};
  return { listener_statuses: listeners.map(statusMessage) };
}

function statusMessage(listener: ListenerStatus): JsonObject {
  const [first, ...rest] =
    listener.isInternal === true
      ? [internalMessage(listener.name, '')]
      : listener.addresses.map((address) => messageOf(address));
  return {
    name: listener.name,
    ...(first === undefined ? {} : { local_address: first }),
    ...(rest.length === 0 ? {} : { additional_local_addresses: rest }),
  };
}

function messageOf(address: BoundAddress): JsonObject {
  return address.kind === 'pipe'
    ? { pipe: { path: address.path } }
    : addressMessage(address.address, address.port);
}
