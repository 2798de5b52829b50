/**
 * Resolves envoy.config.core.v3.SocketOption and the fields that stand for an option of their own.
 */
import type { TcpKeepalive } from '../../shared/api/generated/envoy/config/core/v3/address.ts';
import type { SocketOption as OptionMessage } from '../../shared/api/generated/envoy/config/core/v3/socket_option.ts';
import type { BoundAddress } from '../../shared/resources/listener.ts';
import type { SocketOption } from '../../shared/addresses/socket-options.ts';
import { knownFields, refuseOtherFields } from './fields.ts';
import type { Scope } from './scope.ts';

const FIELDS = knownFields<OptionMessage>(
  ['level', 'name', 'int_value', 'buf_value', 'state', 'type', 'ip_version'],
  ['description'],
);

// Numbers of Linux.
const SOL_IP = 0;
const SOL_SOCKET = 1;
const SOL_TCP = 6;
const SOL_IPV6 = 41;
const SO_KEEPALIVE = 9;
const IP_FREEBIND = 15;
const IP_TRANSPARENT = 19;
const IPV6_TRANSPARENT = 75;
const IPV6_FREEBIND = 78;
const TCP_KEEPIDLE = 4;
const TCP_KEEPINTVL = 5;
const TCP_KEEPCNT = 6;
const TCP_FASTOPEN = 23;

const STATES = {
  STATE_PREBIND: 'prebind',
  STATE_BOUND: 'bound',
  STATE_LISTENING: 'listening',
} as const;

/** Those for a stream socket of this address. */
export function resolveSocketOptions(
  messages: readonly OptionMessage[],
  address: BoundAddress,
  scope: Scope,
): readonly SocketOption[] {
  return messages.flatMap((message, index) => {
    const place = scope.at(index);
    refuseOtherFields(message, FIELDS, place);
    const { state = 'STATE_PREBIND', type, int_value: number = '0' } = message;
    const isOfAddress = message.ip_version === undefined || fits(message.ip_version, address);
    if (type?.datagram !== undefined || !isOfAddress || typeof state === 'number') return [];
    return [
      {
        level: Number(message.level ?? 0),
        name: Number(message.name ?? 0),
        value: message.buf_value ?? Number(number),
        state: STATES[state],
      },
    ];
  });
}

function fits(version: OptionMessage['ip_version'], address: BoundAddress): boolean {
  if (version === 'SOCKET_IP_VERSION_IPV4') return address.kind === 'ip' && address.family === 'v4';
  if (version === 'SOCKET_IP_VERSION_IPV6') return address.kind === 'ip' && address.family === 'v6';
  return true;
}

export interface AddressOptions {
  readonly transparent?: boolean | undefined;
  readonly freebind?: boolean | undefined;
  /** Connections that may send data with their first packet. */
  readonly fastOpenQueue?: number | undefined;
  readonly keepalive?: TcpKeepalive | undefined;
}

/** Undefined after a reported problem: an option of IP on another socket. */
export function addressOptions(
  options: AddressOptions,
  address: BoundAddress,
  scope: Scope,
): readonly SocketOption[] {
  const found: SocketOption[] = [];
  const isV6 = address.kind === 'ip' && address.family === 'v6';
  const level = isV6 ? SOL_IPV6 : SOL_IP;
  const prebind = (name: number): SocketOption => ({ level, name, value: 1, state: 'prebind' });
  for (const field of ['transparent', 'freebind'] as const) {
    if (options[field] !== true) continue;
    if (address.kind !== 'ip') scope.at(field).error('conflict', `${field} needs an IP address`);
    const v4 = field === 'transparent' ? IP_TRANSPARENT : IP_FREEBIND;
    const v6 = field === 'transparent' ? IPV6_TRANSPARENT : IPV6_FREEBIND;
    found.push(prebind(isV6 ? v6 : v4));
  }
  if (options.fastOpenQueue !== undefined) {
    const value = options.fastOpenQueue;
    found.push({ level: SOL_TCP, name: TCP_FASTOPEN, value, state: 'listening' });
  }
  return [...found, ...keepaliveOptions(options.keepalive)];
}

/** Sockets that are accepted have them from the one that listens. */
function keepaliveOptions(message: TcpKeepalive | undefined): readonly SocketOption[] {
  if (message === undefined) return [];
  const own = (name: number, value: number | undefined): readonly SocketOption[] =>
    value === undefined ? [] : [{ level: SOL_TCP, name, value, state: 'prebind' }];
  return [
    { level: SOL_SOCKET, name: SO_KEEPALIVE, value: 1, state: 'prebind' },
    ...own(TCP_KEEPCNT, message.keepalive_probes),
    ...own(TCP_KEEPIDLE, message.keepalive_time),
    ...own(TCP_KEEPINTVL, message.keepalive_interval),
  ];
}
