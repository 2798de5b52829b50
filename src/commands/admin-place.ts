/** Where a command finds the server that it is meant for. */
import { readFileSync } from 'node:fs';
import { AdminClient } from '../admin-client/admin-client.ts';

export interface AdminPlace {
  /** `host:port`, or the path of a unix socket. */
  readonly address: string;
  /** The file that `--admin-address-path` of the server wrote. */
  readonly addressPath: string | undefined;
  readonly tokenPath: string | undefined;
}

/** Throws when a file cannot be read. */
export function adminClientOf({ address, addressPath, tokenPath }: AdminPlace): AdminClient {
  return new AdminClient({
    address: addressPath === undefined ? address : readFileSync(addressPath, 'utf8').trim(),
    ...(tokenPath !== undefined && { token: firstLine(tokenPath) }),
  });
}

function firstLine(path: string): string {
  const [line = ''] = readFileSync(path, 'utf8').split('\n');
  return line.trim();
}
