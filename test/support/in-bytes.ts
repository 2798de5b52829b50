/** A client that sends everything in single bytes. */
import type net from 'node:net';
import { Duplex } from 'node:stream';

/** Everything that is written leaves in single bytes. */
export function inBytes(socket: net.Socket): Duplex {
  const through = new Duplex({
    read: () => undefined,
    write: (piece: Buffer, _encoding, done) => {
      for (let at = 0; at < piece.length; at += 1) socket.write(piece.subarray(at, at + 1));
      done();
    },
  });
  socket.on('data', (piece: Buffer) => through.push(piece));
  socket.on('end', () => through.push(null));
  return through;
}
