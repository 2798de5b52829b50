/** Addresses as access logs and headers print them. */
import type { Address } from './connection-info.ts';

export function ipAddress(ip: string, port: number): Address {
  const text = ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
  return { kind: 'ip', ip, port, text };
}

export function pipeAddress(path: string): Address {
  return { kind: 'pipe', ip: path, port: 0, text: path };
}

/** What node:net reports of a socket; an IPv4 client of an IPv6 socket is shown as IPv4. */
export function socketAddress(ip: string | undefined, port: number | undefined): Address {
  if (ip === undefined || ip === '') return pipeAddress('');
  if (ip.startsWith('envoy://')) return pipeAddress(ip);
  return ipAddress(ip.startsWith('::ffff:') && ip.includes('.') ? ip.slice(7) : ip, port ?? 0);
}
