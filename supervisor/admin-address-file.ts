/** Writes the file of `--admin-address-path`, whole or not at all. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import type { BoundAddress } from '../shared/resources/listener.ts';
import { formatAddress } from './sockets/bind-error.ts';

/**
 * A reader that waits for the file never sees half of it: a temporary file beside it takes its
 * place. Returns the reason when it cannot be written.
 */
export function writeAdminAddressFile(path: string, address: BoundAddress): string | undefined {
  const temporary = `${path}.${process.pid}`;
  try {
    writeFileSync(temporary, formatAddress(address));
    renameSync(temporary, path);
    return undefined;
  } catch (error) {
    rmSync(temporary, { force: true });
    return `cannot write the admin address to '${path}': ${(error as Error).message}`;
  }
}
