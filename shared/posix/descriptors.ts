/** File descriptors in general: their flags, copies and end. Never a socket's own matters. */
import { F_DUPFD_CLOEXEC, F_GETFD, F_GETFL, F_SETFL, F_SETOWN, O_ASYNC } from './layout.ts';
import { FD_CLOEXEC, F_SETFD, O_NONBLOCK } from './layout.ts';
import { check, libcFunction } from './libc.ts';

const close = libcFunction<[number], number>('int close(int)');
const fcntl = libcFunction<[number, number, number], number>('int fcntl(int, int, int)');

/**
 * Closes a descriptor of which nobody holds a stream. Throws `PosixError` for one that is not open.
 */
export function closeDescriptor(fd: number): void {
  check(close(fd), 'close');
}

/** A second descriptor for the same open file, with CLOEXEC. */
export function duplicateDescriptor(fd: number): number {
  return check(fcntl(fd, F_DUPFD_CLOEXEC, 3), 'fcntl');
}

/** Sets or clears CLOEXEC, for descriptors that came from elsewhere (systemd, another library). */
export function setCloseOnExec(fd: number, isSet: boolean): void {
  const flags = check(fcntl(fd, F_GETFD, 0), 'fcntl');
  check(fcntl(fd, F_SETFD, isSet ? flags | FD_CLOEXEC : flags & ~FD_CLOEXEC), 'fcntl');
}

/** Reads and writes that would wait fail with EAGAIN. */
export function setNonBlocking(fd: number): void {
  const flags = check(fcntl(fd, F_GETFL, 0), 'fcntl');
  check(fcntl(fd, F_SETFL, flags | O_NONBLOCK), 'fcntl');
}

/** Whether exec closes the descriptor. */
export function isCloseOnExec(fd: number): boolean {
  return (check(fcntl(fd, F_GETFD, 0), 'fcntl') & FD_CLOEXEC) !== 0;
}

/**
 * Makes the kernel send SIGIO to this process whenever the descriptor becomes readable; reads no
 * longer block. The caller installs its SIGIO handler first and reads until EAGAIN on each signal,
 * since signals coalesce.
 */
export function signalWhenReadable(fd: number): void {
  check(fcntl(fd, F_SETOWN, process.pid), 'fcntl');
  const flags = check(fcntl(fd, F_GETFL, 0), 'fcntl');
  check(fcntl(fd, F_SETFL, flags | O_ASYNC | O_NONBLOCK), 'fcntl');
}
