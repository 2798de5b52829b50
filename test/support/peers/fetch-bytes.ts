/** One GET request whose answer is kept as bytes; rejects when the answer breaks off. */
import { request } from 'node:http';

export interface Bytes {
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Buffer;
}

export function fetchBytes(port: number, headers: Record<string, string>): Promise<Bytes> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        resolve({ headers: response.headers, body: Buffer.concat(chunks) });
      });
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}
