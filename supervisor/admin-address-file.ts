/** Writes the file of `--admin-address-path`. */
import type { BoundAddress } from '../shared/resources/listener.ts';
import { formatAddress } from './sockets/bind-error.ts';
import { writeFileWhole } from './write-file-whole.ts';

/** Returns the reason when it cannot be written. */
export function writeAdminAddressFile(path: string, address: BoundAddress): string | undefined {
  const failure = writeFileWhole(path, formatAddress(address));
  return failure && `cannot write the admin address to '${path}': ${failure}`;
}
