/**
 * The door to libc: the only file that calls koffi. It loads the library on the first call,
 * checks the platform before that call, binds functions when they are first used and turns a result
 * of -1 into a `PosixError`. It knows no function by name.
 */
import type { LibraryHandle } from 'koffi';
import { endianness } from 'node:os';
import { LAYOUTS, type Layout } from './layout.ts';
import { loadKoffi } from './native-koffi.ts';
import { PlatformError, PosixError } from './posix-error.ts';

interface Libc {
  readonly layout: Layout;
  readonly library: LibraryHandle;
}

const koffi = loadKoffi();
let opened: Libc | undefined;

/**
 * Returns a function of libc, bound on its first call. `signature` is a C declaration whose types
 * must be what `Args` and `Result` say: pointers are buffers, `bigint` addresses or null.
 * Calls throw `PlatformError` where libc cannot be used.
 */
export function libcFunction<Args extends readonly unknown[], Result>(
  signature: string,
): (...args: Args) => Result {
  let bound: ((...args: Args) => Result) | undefined;
  return (...args) => {
    bound ??= libc().library.func(signature) as unknown as (...args: Args) => Result;
    return bound(...args);
  };
}

/** Passes a result on, or throws the `PosixError` that errno names when it is negative. */
export function check(result: number, syscall: string): number {
  if (result < 0) throw lastError(syscall);
  return result;
}

/** errno after the call just made. */
export function lastErrno(): number {
  return koffi.errno();
}

/** The error that errno names; `syscall` is for the error's own field. */
export function lastError(syscall: string): PosixError {
  const errno = koffi.errno();
  return new PosixError(errnoName(errno), errno, syscall, strerror(errno));
}

/** Errno number of a name, for comparisons. */
export function errnoOf(name: 'EAGAIN' | 'EINTR' | 'ECHILD'): number {
  const errno = koffi.os.errno[name];
  if (errno === undefined) throw new PlatformError(`this platform has no ${name}`);
  return errno;
}

/**
 * Address of a buffer's first byte. The buffer must come from `stableBuffer`, and the caller keeps
 * a reference to it for as long as libc may use the address.
 */
export function addressOf(buffer: Buffer): bigint {
  return koffi.address(buffer);
}

/** A zeroed buffer whose bytes never move: V8 keeps small typed arrays inside its own heap. */
export function stableBuffer(bytes: number): Buffer {
  return Buffer.from(new ArrayBuffer(Math.max(bytes, 256)), 0, bytes);
}

/** Foreign memory as an ArrayBuffer without a copy. The memory must never be unmapped. */
export function viewOf(address: bigint, bytes: number): ArrayBuffer {
  return koffi.view(address, bytes);
}

/** The layout table of this machine. Throws `PlatformError` where there is none. */
export function layout(): Layout {
  return libc().layout;
}

function libc(): Libc {
  opened ??= open();
  return opened;
}

function open(): Libc {
  const table = LAYOUTS[process.arch];
  if (process.platform !== 'linux' || table === undefined || endianness() !== 'LE') {
    throw new PlatformError(
      `unsupported platform: ${process.platform} on ${process.arch}; Linux on x64 or arm64 is needed`,
    );
  }
  checkLayout(table);
  return { layout: table, library: koffi.load(null) };
}

/** Compares the table with what koffi computes for the same declarations. */
function checkLayout(table: Layout): void {
  const { msghdr, iovec, cmsghdr } = table;
  const message = koffi.struct({
    name: 'void *',
    nameLength: 'uint32_t',
    vector: 'void *',
    vectorLength: 'size_t',
    control: 'void *',
    controlLength: 'size_t',
    flags: 'int',
  });
  const vector = koffi.struct({ base: 'void *', length: 'size_t' });
  const control = koffi.struct({ length: 'size_t', level: 'int', type: 'int' });
  const holds =
    koffi.sizeof('void *') === table.sizeOfPointer &&
    koffi.sizeof('long') === table.sizeOfLong &&
    koffi.sizeof(message) === msghdr.size &&
    koffi.offsetof(message, 'flags') === msghdr.flags &&
    koffi.offsetof(message, 'controlLength') === msghdr.controlLength &&
    koffi.sizeof(vector) === iovec.size &&
    koffi.sizeof(control) === cmsghdr.size;
  if (!holds) throw new PlatformError(`the C structures of ${process.arch} are not as expected`);
}

const strerror = libcFunction<[number], string>('const char *strerror(int)');

function errnoName(errno: number): string {
  for (const [name, value] of Object.entries(koffi.os.errno)) {
    // EWOULDBLOCK and ENOTSUP are second names of numbers that have a better known one.
    if (value === errno && name !== 'EWOULDBLOCK' && name !== 'ENOTSUP') return name;
  }
  return `E${errno}`;
}
