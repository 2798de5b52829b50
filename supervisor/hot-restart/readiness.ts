/**
 * Tells when a datagram socket has something to read. Node cannot watch such a descriptor, so the
 * kernel is asked to send SIGIO; the signal says neither which socket nor how often, so on each one
 * every watched socket is read until it is empty.
 */
import { signalWhenReadable } from '../../shared/posix/descriptors.ts';

type ReadUntilEmpty = () => void;

const watched = new Map<number, ReadUntilEmpty>();

/**
 * Calls `readUntilEmpty` now and whenever `fd` may be readable, until the returned function is
 * called.
 */
export function watchReadable(fd: number, readUntilEmpty: ReadUntilEmpty): () => void {
  if (watched.size === 0) process.on('SIGIO', readAll);
  watched.set(fd, readUntilEmpty);
  signalWhenReadable(fd);
  // What arrived before the kernel was asked has sent no signal.
  readUntilEmpty();
  return () => {
    watched.delete(fd);
    if (watched.size === 0) process.off('SIGIO', readAll);
  };
}

function readAll(): void {
  // A callback may unwatch itself or another: a Map's iteration allows for that.
  for (const readUntilEmpty of watched.values()) readUntilEmpty();
}
