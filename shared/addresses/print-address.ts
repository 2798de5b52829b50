/** Addresses as logs, pages and files show them. */
import type { BoundAddress } from '../resources/listener.ts';

/** As Envoy prints addresses: `127.0.0.1:80`, `[::1]:80`, a path. */
export function printAddress(address: BoundAddress): string {
  if (address.kind === 'pipe') return address.path;
  const host = address.family === 'v6' ? `[${address.address}]` : address.address;
  return `${host}:${address.port}`;
}

/** The same with its protocol, which tells sockets apart: `tcp://127.0.0.1:80`, `udp://…`, `unix://…`. */
export function bindingName(address: BoundAddress): string {
  const scheme = address.kind === 'pipe' ? 'unix' : address.isDatagram === true ? 'udp' : 'tcp';
  return `${scheme}://${printAddress(address)}`;
}
