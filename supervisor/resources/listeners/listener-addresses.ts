/** Resolves what a listener binds: its addresses with the options of each one's sockets. */
import type { Listener as ListenerMessage } from '../../../shared/api/generated/envoy/config/listener/v3/listener.ts';
import type { AddressToBind } from '../../resolved/address-to-bind.ts';
import { resolveAddress } from '../addresses.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { addressOptions, resolveSocketOptions } from '../socket-options.ts';

type AdditionalAddress = NonNullable<ListenerMessage['additional_addresses']>[number];
const ADDITIONAL_FIELDS = knownFields<AdditionalAddress>([
  'address',
  'socket_options',
  'tcp_keepalive',
]);

/** Empty after a reported problem. */
export function resolveListenerAddresses(
  message: ListenerMessage,
  scope: Scope,
): readonly AddressToBind[] {
  if (message.address === undefined) {
    const named = `error adding listener named '${message.name ?? ''}'`;
    scope.error('address', `${named}: address is necessary`);
    return [];
  }
  const own = (address: ListenerMessage['address'], extra: AdditionalAddress, place: Scope) =>
    withOptions(message, { address: address ?? {}, extra }, { listener: scope, address: place });
  const addresses = [own(message.address, {}, scope.at('address'))];
  for (const [index, additional] of (message.additional_addresses ?? []).entries()) {
    const place = scope.at('additional_addresses', index);
    refuseOtherFields(additional, ADDITIONAL_FIELDS, place);
    addresses.push(own(additional.address, additional, place.at('address')));
  }
  return addresses.filter((address) => address !== undefined);
}

/** Options of an address of its own stand in place of the listener's. */
function withOptions(
  message: ListenerMessage,
  { address, extra }: { readonly address: object; readonly extra: AdditionalAddress },
  scope: { readonly listener: Scope; readonly address: Scope },
): AddressToBind | undefined {
  const resolved = resolveOne(address, scope.address);
  if (resolved === undefined) return undefined;
  const own = extra.socket_options?.socket_options;
  const options = [
    ...addressOptions(
      {
        transparent: message.transparent,
        freebind: message.freebind,
        fastOpenQueue: message.tcp_fast_open_queue_length,
        keepalive: extra.tcp_keepalive ?? message.tcp_keepalive,
      },
      resolved.address,
      scope.listener,
    ),
    ...resolveSocketOptions(
      own ?? message.socket_options ?? [],
      resolved.address,
      scope.listener.at('socket_options'),
    ),
  ];
  return {
    ...resolved,
    ...(options.length > 0 ? { options } : {}),
    ...(message.enable_mptcp === true ? { isMultipath: true } : {}),
  };
}

function resolveOne(message: object, scope: Scope): AddressToBind | undefined {
  const resolved = resolveAddress(message, scope);
  if (resolved === undefined) return undefined;
  const { address, ipv4Compat, mode, protocol } = resolved;
  if (protocol !== 'UDP' || address.kind !== 'ip') return { address, ipv4Compat, mode };
  return { address: { ...address, isDatagram: true }, ipv4Compat, mode };
}
