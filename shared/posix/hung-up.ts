/** Whether the other side of a socket has closed it, asked of the kernel without reading. */
import { POLLRDHUP } from './layout.ts';
import { libcFunction, stableBuffer } from './libc.ts';

const poll = libcFunction<[Buffer, number, number], number>('int poll(void *, ulong, int)');

/** struct pollfd: descriptor, what is asked for, what is so. */
const asked = stableBuffer(8);

/**
 * True also when bytes wait to be read, and for a descriptor that is closed or broken. What fails
 * counts as false.
 */
export function hasHungUp(fd: number): boolean {
  asked.writeInt32LE(fd, 0);
  asked.writeInt16LE(POLLRDHUP, 4);
  asked.writeInt16LE(0, 6);
  return poll(asked, 1, 0) > 0;
}
