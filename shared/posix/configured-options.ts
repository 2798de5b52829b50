/** Sets the options of a configuration on a socket. */
import { setSocketOption, setSocketOptionBytes } from './sockets.ts';
import type { SocketOption } from '../addresses/socket-options.ts';

/**
 * Those of this moment, in their order. Throws with the option's numbers when the kernel refuses.
 */
export function setConfiguredOptions(
  fd: number,
  options: readonly SocketOption[] | undefined,
  state: SocketOption['state'],
): void {
  for (const { level, name, value, state: wanted } of options ?? []) {
    if (wanted !== state) continue;
    try {
      if (typeof value === 'number') setSocketOption(fd, level, name, value);
      else setSocketOptionBytes(fd, level, name, Buffer.from(value, 'base64'));
    } catch (cause) {
      const reason = (cause as Error).message;
      throw new Error(`setting socket option ${level}/${name} failed: ${reason}`, { cause });
    }
  }
}
