/** Writes the file of `--admin-address-path`. */
import { printAddress } from '../../shared/addresses/print-address.ts';
import type { BoundAddress } from '../../shared/resources/listener.ts';
import { writeFileWhole } from './write-file-whole.ts';

/** Returns the reason when it cannot be written. */
export function writeAdminAddressFile(path: string, address: BoundAddress): string | undefined {
  const failure = writeFileWhole(path, printAddress(address));
  return failure && `cannot write the admin address to '${path}': ${failure}`;
}
