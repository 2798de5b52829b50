/**
 * Tells from a connection's first bytes whether a client speaks HTTP/2 without having been asked.
 */
import type { Socket } from 'node:net';
import type { AdminProtocol } from './exchange.ts';

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/**
 * Reads until the protocol is known and puts the bytes back; the socket is paused then. The caller
 * bounds the time. A client that leaves before is closed.
 */
export function readFirstBytes(socket: Socket, onKnown: (protocol: AdminProtocol) => void): void {
  let seen: Buffer = Buffer.alloc(0);
  const onEnd = (): void => void socket.destroy();
  const onData = (chunk: Buffer): void => {
    seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
    const length = Math.min(seen.length, PREFACE.length);
    const isPreface = PREFACE.subarray(0, length).equals(seen.subarray(0, length));
    if (isPreface && length < PREFACE.length) return;
    socket.off('data', onData);
    socket.off('end', onEnd);
    socket.pause();
    socket.unshift(seen);
    onKnown(isPreface ? 'HTTP/2' : 'HTTP/1.1');
  };
  socket.on('data', onData);
  socket.on('end', onEnd);
}
