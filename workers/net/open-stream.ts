/**
 * Opens the byte stream of a transport: over a handle of the runtime where this one hands them
 * out, else over a socket of node:net.
 */
import net from 'node:net';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { ByteStream, ByteStreamOwner, ConnectOptions } from './byte-stream.ts';
import { type ConnectTo, HandleStream, handleOptions } from './handle-stream.ts';
import { connectLocalSocket } from './local-socket.ts';
import { runtimeHandles, type StreamHandle } from './runtime-handles.ts';
import { isTls, SocketStream, socketOfHandle } from './socket-stream.ts';
import { TlsStream } from './tls/tls-stream.ts';

/** The stream of a socket that node:net accepted or TLS made. */
export function adoptedStream(
  { readBuffer, held }: WorkerLoop,
  owner: ByteStreamOwner,
  socket: net.Socket,
): ByteStream {
  return runtimeHandles !== undefined && isTls(socket)
    ? new TlsStream(socket, { handles: runtimeHandles, readBuffer, held, owner })
    : new SocketStream(socket, owner);
}

/** The stream of a handle that was accepted. */
export function acceptedStream(
  loop: WorkerLoop,
  owner: ByteStreamOwner,
  handle: StreamHandle,
  bufferLimitBytes: number,
): ByteStream {
  const options = handleOptions(loop, owner, bufferLimitBytes);
  return options === undefined
    ? new SocketStream(socketOfHandle(handle), owner)
    : HandleStream.accepted(handle, options);
}

/** A stream that begins to connect; its owner hears how that ends when this has returned. */
export function connectedStream(
  loop: WorkerLoop,
  owner: ByteStreamOwner,
  target: ConnectTo,
  { local, bufferLimitBytes }: ConnectOptions,
): ByteStream {
  const options = handleOptions(loop, owner, bufferLimitBytes);
  if (options !== undefined) return HandleStream.connect(target, local, options);
  const isPlain = local === undefined || 'path' in target;
  const socket = isPlain ? net.connect(target) : connectLocalSocket(local, target);
  socket.setNoDelay(true);
  return new SocketStream(socket, owner);
}
