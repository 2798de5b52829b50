/** What the runtime's handles report in place of a length, as errors. */
import { getSystemErrorName } from 'node:util';

/** How libuv reports the end of what the peer sends. */
export const UV_EOF = -4095;
/** This side gave the connection up. */
export const UV_ECONNABORTED = -103;

/** `status` is a negative errno, `call` such as `read`. */
export function systemError(status: number, call: string): NodeJS.ErrnoException {
  const code = getSystemErrorName(status);
  return Object.assign(new Error(`${call} ${code}`), { code, errno: status, syscall: call });
}
