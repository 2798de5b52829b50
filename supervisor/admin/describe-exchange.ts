/** Requests of the administration interface as its access log tells of them. */
import type { Socket } from 'node:net';
import type { AdminExchange } from './http/exchange.ts';
import { parseRequestTarget } from './http/request-target.ts';

export function describeRequest({ socket, method, target: asked, headers }: AdminExchange) {
  const target = parseRequestTarget(asked);
  const query = target === undefined || target.query === '' ? '' : `?${target.query}`;
  const fields = Object.entries(headers).map(
    ([name, value]) => [name, typeof value === 'object' ? value.join(',') : value] as const,
  );
  return {
    ...describeSocket(socket),
    method,
    path: target === undefined ? asked : `${target.path}${query}`,
    headers: Object.fromEntries(fields),
  };
}

/** Envoy's codec refuses before it knows what is asked, so its log says nothing of it. */
export function describeRefused(socket: Socket) {
  return { ...describeSocket(socket), method: '', path: '', headers: {} };
}

function describeSocket(socket: Socket) {
  return {
    remoteAddress: socket.remoteAddress ?? '-',
    remotePort: socket.remotePort ?? 0,
    localAddress: socket.localAddress ?? '-',
    localPort: socket.localPort ?? 0,
  };
}

export function describeClient(socket: Socket): string {
  return socket.remoteAddress === undefined
    ? 'a local socket'
    : `${socket.remoteAddress}:${socket.remotePort ?? 0}`;
}
