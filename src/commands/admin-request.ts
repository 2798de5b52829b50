/** Asks the admin interface of a running server, wherever it listens. */
import { readFileSync } from 'node:fs';
import { request } from 'node:http';

/** Where a command finds the server that it is meant for. */
export interface AdminPlace {
  /** `host:port`, or the path of a unix socket. */
  readonly address: string;
  /** The file that `--admin-address-path` of the server wrote. */
  readonly addressPath: string | undefined;
  readonly tokenPath: string | undefined;
}

export interface AdminAddress {
  readonly host?: string;
  readonly port?: number;
  readonly socketPath?: string;
  readonly headers: { readonly authorization?: string };
}

/** Throws when a file cannot be read. */
export function adminAddressOf(place: AdminPlace): AdminAddress {
  const address =
    place.addressPath === undefined
      ? place.address
      : readFileSync(place.addressPath, 'utf8').trim();
  const headers = place.tokenPath === undefined ? {} : bearer(place.tokenPath);
  const match = /^(?:\[(.+)\]|([^:/]+)):(\d{1,5})$/.exec(address);
  if (match === null) return { socketPath: address, headers };
  return { host: match[1] ?? match[2] ?? '', port: Number(match[3]), headers };
}

function bearer(path: string): AdminAddress['headers'] {
  const [token = ''] = readFileSync(path, 'utf8').split('\n');
  return { authorization: `Bearer ${token.trim()}` };
}

/** Rejects when the server cannot be reached. */
export function askAdmin(
  ask: AdminAddress & { readonly method: string; readonly path: string },
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ ...ask, agent: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.on('error', reject);
    sent.end();
  });
}
