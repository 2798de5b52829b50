/** A pair of connected unix sockets as descriptors. */
import { AF_UNIX, SOCK_CLOEXEC, SOCK_NONBLOCK } from '../../../shared/posix/layout.ts';
import { check, libcFunction, stableBuffer } from '../../../shared/posix/libc.ts';

const socketpair = libcFunction<[number, number, number, Buffer], number>(
  'int socketpair(int, int, int, _Out_ uint8_t *)',
);

/** `kind` is SOCK_STREAM or SOCK_SEQPACKET. */
export function openSocketPair(kind: number): readonly [number, number] {
  const pair = stableBuffer(8);
  const type = kind | SOCK_NONBLOCK | SOCK_CLOEXEC;
  check(socketpair(AF_UNIX, type, 0, pair), 'socketpair');
  return [pair.readInt32LE(0), pair.readInt32LE(4)];
}
