/** What the server's side of TLS stands on: an accepted handle, bare or still in its socket. */
import type net from 'node:net';
import { HandleAddresses } from '../addressed-stream.ts';
import type { StreamAddresses } from '../byte-stream.ts';
import type { StreamHandle } from '../runtime-handles.ts';
import { socketOfHandle } from '../socket-stream.ts';

export interface TlsCarrier {
  /** Undefined when there is none any more. */
  readonly handle: StreamHandle | undefined;
  readonly addresses: StreamAddresses;
  /** For those who cannot use the handle; instead of everything else. */
  socket(): net.Socket;
  /** Takes what was read before and put back. */
  takeEarly(): readonly Buffer[];
  /** Calls back when nothing of it is in use any more. */
  close(closed?: () => void): void;
}

export function carrierOfHandle(handle: StreamHandle): TlsCarrier {
  return {
    handle,
    addresses: new HandleAddresses(handle),
    socket: () => socketOfHandle(handle),
    takeEarly: () => [],
    close: (closed) => handle.close(closed),
  };
}

export function carrierOfSocket(socket: net.Socket): TlsCarrier {
  const { _handle: handle } = socket as unknown as { readonly _handle?: StreamHandle | null };
  return {
    handle: socket.destroyed ? undefined : (handle ?? undefined),
    addresses: socket,
    socket: () => socket,
    takeEarly: () => takeAll(socket),
    close: (closed) => {
      if (closed !== undefined) socket.once('close', closed);
      socket.destroy();
    },
  };
}

function takeAll(socket: net.Socket): readonly Buffer[] {
  // What becomes of the connection is said by those who take it.
  socket.on('error', () => undefined);
  const pieces: Buffer[] = [];
  for (;;) {
    const piece = socket.read() as Buffer | null;
    if (piece === null) return pieces;
    pieces.push(piece);
  }
}
