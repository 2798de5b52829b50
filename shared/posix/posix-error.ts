/**
 * The one error class of libc calls. It owns the mapping from errno numbers to names and texts and
 * knows nothing of what was called.
 */

/** A libc call that failed. `message` is libc's own text, such as `Address already in use`. */
export class PosixError extends Error {
  /** The errno name, such as `EADDRINUSE`; `E<number>` for one without a name. */
  readonly code: string;
  readonly errno: number;
  readonly syscall: string;

  constructor(code: string, errno: number, syscall: string, text: string) {
    super(text);
    this.name = 'PosixError';
    this.code = code;
    this.errno = errno;
    this.syscall = syscall;
  }
}

/** This machine or this build of Node cannot be served: no libc function may be called. */
export class PlatformError extends Error {
  readonly code = 'unsupported_platform';

  constructor(message: string) {
    super(message);
    this.name = 'PlatformError';
  }
}
