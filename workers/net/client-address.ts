/**
 * Who the client is: reads `x-forwarded-for` as trusted proxies wrote it, tells internal addresses
 * from external ones and names this machine's own address. Changes no headers.
 */
import { SocketAddress } from 'node:net';
import { isIP, isIPv4 } from '../../shared/addresses/ip-text.ts';
import { compileIpRanges } from '../../shared/addresses/ip-ranges.ts';
import { scopeIdOf } from '../../shared/posix/interface-index.ts';
import type { Address } from './connection-info.ts';

interface Cidr {
  readonly address: string;
  readonly prefixLength: number;
}

/**
 * The address that stands `skip` places before the last one in `forwardedFor`, or undefined when
 * there are too few or it is no IP address. A port is not allowed there.
 */
export function addressFromForwardedFor(forwardedFor: string, skip: number): Address | undefined {
  let end = forwardedFor.length;
  for (let skipped = 0; skipped < skip; skipped += 1) {
    end = forwardedFor.lastIndexOf(',', end - 1);
    if (end < 0) return undefined;
  }
  const start = end === 0 ? 0 : forwardedFor.lastIndexOf(',', end - 1) + 1;
  return parseIpAddress(forwardedFor.slice(start, end).trim());
}

/**
 * An address without port (0) from its text; IPv6 in its shortest form. Undefined when it is none.
 */
export function parseIpAddress(text: string): Address | undefined {
  if (isIPv4(text)) return { kind: 'ip', ip: text, port: 0, text: `${text}:0` };
  const percent = text.indexOf('%');
  const bare = percent < 0 ? text : text.slice(0, percent);
  if (isIP(bare) !== 6) return undefined;
  const scope = percent < 0 ? 0 : scopeIdOf(bare, text.slice(percent + 1));
  if (scope === undefined) return undefined;
  const { address } = new SocketAddress({ address: bare, family: 'ipv6' });
  const ip = scope === 0 ? address : `${address}%${scope}`;
  return { kind: 'ip', ip, port: 0, text: `[${ip}]:0` };
}

/** Whether an IP address is this machine talking to itself. */
export function isLoopback(ip: string): boolean {
  return ip.startsWith('127.') || ip === '::1' || ip.startsWith('::ffff:127.');
}

export interface InternalAddresses {
  readonly internalCidrs?: readonly Cidr[];
  readonly hasInternalSockets?: boolean;
}

/** Tests addresses against what is configured as internal; without configuration nothing is. */
export function compileInternalAddresses({
  internalCidrs = [],
  hasInternalSockets = false,
}: InternalAddresses): (address: Address) => boolean {
  if (internalCidrs.length === 0) return ({ kind }) => hasInternalSockets && kind === 'pipe';
  const contains = compileIpRanges(internalCidrs);
  return ({ kind, ip }) => (kind === 'ip' ? contains(ip) : hasInternalSockets);
}
