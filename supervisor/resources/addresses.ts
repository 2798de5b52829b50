/** Resolves envoy.config.core.v3.Address: IP addresses with a port, and paths of unix sockets. */
import { printAddress } from '../../shared/addresses/print-address.ts';
import { SocketAddress as NodeSocketAddress } from 'node:net';
import { isIPv4, isIPv6 } from '../../shared/addresses/ip-text.ts';
import type {
  Address,
  Pipe,
  SocketAddress,
} from '../../shared/api/generated/envoy/config/core/v3/address.ts';
import type { BoundAddress } from '../../shared/resources/listener.ts';
import { knownFields, refuseOtherFields } from './fields.ts';
import type { Scope } from './scope.ts';

const SOCKET_FIELDS = knownFields<SocketAddress>([
  'protocol',
  'address',
  'port_value',
  'named_port',
  'resolver_name',
  'ipv4_compat',
]);

/** sun_path with its closing NUL. */
const PATH_MAX_BYTES = 108;

export interface ResolvedAddress {
  readonly address: BoundAddress;
  readonly ipv4Compat: boolean;
  /** The mode of a unix socket's file; 0 leaves what umask makes. */
  readonly mode: number;
  readonly protocol: 'TCP' | 'UDP';
}

/** `hint` follows the message where Envoy gives one. Undefined after a reported problem. */
export function resolveAddress(
  address: Address,
  scope: Scope,
  hint = '',
): ResolvedAddress | undefined {
  if (address.pipe !== undefined) return resolvePipe(address.pipe, scope.at('pipe'), hint);
  if (address.socket_address !== undefined) {
    return resolveSocketAddress(address.socket_address, scope.at('socket_address'), hint);
  }
  if (address.envoy_internal_address !== undefined) {
    const text = 'an internal address is only of endpoints; of listeners it is internal_listener';
    scope.at('envoy_internal_address').error('address', text);
  } else {
    scope.error('address', 'Address must be set');
  }
  return undefined;
}

/** Undefined after a reported problem. */
export function resolveSocketAddress(
  message: SocketAddress,
  scope: Scope,
  hint = '',
): ResolvedAddress | undefined {
  refuseOtherFields(message, SOCKET_FIELDS, scope);
  if (message.resolver_name !== undefined) {
    scope
      .at('resolver_name')
      .error('extension', `Unknown address resolver: ${message.resolver_name}`);
    return undefined;
  }
  if (message.named_port !== undefined) {
    scope
      .at('named_port')
      .error('address', `IP resolver can't handle port specifier type 4${hint}`, 'use port_value');
    return undefined;
  }
  const port = message.port_value ?? 0;
  const address = canonicalIp(message.address ?? '', port, scope);
  if (address === undefined) {
    scope.at('address').error('address', `malformed IP address: ${message.address ?? ''}${hint}`);
    return undefined;
  }
  const ipv4Compat = message.ipv4_compat ?? false;
  if (ipv4Compat && !allowsIpv4(address)) {
    scope
      .at('ipv4_compat')
      .error(
        'address',
        `Only IPv6 address '::' or valid IPv4-mapped IPv6 address can set ipv4_compat: ${printAddress(address)}`,
      );
  }
  const protocol = message.protocol === 'UDP' ? 'UDP' : 'TCP';
  return { address, ipv4Compat, mode: 0, protocol };
}

function canonicalIp(text: string, port: number, scope: Scope): BoundAddress | undefined {
  if (isIPv4(text)) return { kind: 'ip', family: 'v4', address: text, port };
  if (!isIPv6(text)) return undefined;
  if (text.includes('%')) scope.at('address').unsupported('an IPv6 address with a zone is');
  const { address } = new NodeSocketAddress({ address: text, family: 'ipv6' });
  return { kind: 'ip', family: 'v6', address, port };
}

function allowsIpv4(address: BoundAddress): boolean {
  return (
    address.kind === 'ip' &&
    address.family === 'v6' &&
    (address.address === '::' || address.address.startsWith('::ffff:'))
  );
}

function resolvePipe(pipe: Pipe, scope: Scope, hint: string): ResolvedAddress | undefined {
  const path = pipe.path ?? '';
  const isAbstract = path.startsWith('@');
  if (Buffer.byteLength(path) + (isAbstract ? 0 : 1) > PATH_MAX_BYTES) {
    scope
      .at('path')
      .error(
        'address',
        `Path "${path}" exceeds maximum UNIX domain socket path size of ${PATH_MAX_BYTES}.${hint}`,
      );
    return undefined;
  }
  if (isAbstract && pipe.mode !== undefined) {
    scope.at('mode').error('address', 'Cannot set mode for Abstract AF_UNIX sockets');
  }
  return {
    address: { kind: 'pipe', path },
    ipv4Compat: false,
    mode: pipe.mode ?? 0,
    protocol: 'TCP',
  };
}
