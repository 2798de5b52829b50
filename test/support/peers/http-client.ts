/**
 * A small client for tests: one request on a connection of its own, the whole answer as a value.
 */
import { request, type IncomingHttpHeaders } from 'node:http';
import { WAIT_LIMIT_MS } from '../wait.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export interface Ask {
  readonly port?: number;
  readonly socketPath?: string;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
}

export function fetchOnce(ask: Ask, limitMs = WAIT_LIMIT_MS): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        ...(ask.socketPath === undefined
          ? { host: '127.0.0.1', port: ask.port }
          : { socketPath: ask.socketPath }),
        path: ask.path ?? '/',
        method: ask.method ?? 'GET',
        headers: ask.headers ?? {},
        agent: false,
        timeout: limitMs,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            rawHeaders: response.rawHeaders,
            body: Buffer.concat(chunks).toString('utf8'),
          });
        });
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer in ${limitMs} ms`)));
    outgoing.on('error', reject);
    outgoing.end(ask.body);
  });
}
