/**
 * Lets a listening socket take no further connection while those that wait in it can still be
 * accepted, so that none is accepted by the kernel only to be reset when the socket is closed.
 *
 * A unix socket refuses at once. A TCP socket ignores those that begin (SYN without ACK) and
 * completes those that have begun: a client that is ignored tries again within a second, and is
 * refused or taken by the process that listens then. Both hold for all that have the socket.
 */
import { SO_ATTACH_FILTER, SHUT_RD, SOCK_FILTER_BYTES, SOL_SOCKET } from './layout.ts';
import { addressOf, libcFunction, stableBuffer } from './libc.ts';
import { PosixError } from './posix-error.ts';
import { localAddress, setSocketOptionBytes } from './sockets.ts';

/**
 * Classic BPF: code, jump if true, jump if false, operand. The program sees a segment from the
 * beginning of its TCP header, whose byte 13 has the flags.
 */
const DROP_BEGINNINGS: readonly (readonly [number, number, number, number])[] = [
  [0x30, 0, 0, 13], // load that byte
  [0x54, 0, 0, 0x12], // of it SYN and ACK
  [0x15, 0, 1, 0x02], // SYN alone?
  [0x06, 0, 0, 0], // then keep nothing of the segment
  [0x06, 0, 0, 0xffffffff], // else keep all
];

const shutdown = libcFunction<[number, number], number>('int shutdown(int, int)');

/** A socket that cannot be told so is closed all the same, as before; nothing depends on it. */
export function refuseConnections(fd: number): void {
  try {
    if (localAddress(fd)?.kind === 'pipe') shutdown(fd, SHUT_RD);
    else attachFilter(fd);
  } catch (error) {
    if (!(error instanceof PosixError)) throw error;
  }
}

function attachFilter(fd: number): void {
  const filters = stableBuffer(SOCK_FILTER_BYTES * DROP_BEGINNINGS.length);
  for (const [index, [code, whenTrue, whenFalse, operand]] of DROP_BEGINNINGS.entries()) {
    const at = SOCK_FILTER_BYTES * index;
    filters.writeUInt16LE(code, at);
    filters.writeUInt8(whenTrue, at + 2);
    filters.writeUInt8(whenFalse, at + 3);
    filters.writeUInt32LE(operand, at + 4);
  }
  // struct sock_fprog: a count and, at the next multiple of eight, the address of the filters.
  const program = Buffer.alloc(16);
  program.writeUInt16LE(DROP_BEGINNINGS.length, 0);
  program.writeBigUInt64LE(addressOf(filters), 8);
  setSocketOptionBytes(fd, SOL_SOCKET, SO_ATTACH_FILTER, program);
}
