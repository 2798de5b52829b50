/** A client of the administration interface: the export `sluice/admin`, and what the commands ask with. */
import { request } from 'node:http';
import type { MutatingPath, ParamsOf, ReadPath } from './admin-endpoints.ts';

export interface AdminClientOptions {
  /** `host:port`, `[address]:port`, or the path of a unix socket. */
  readonly address: string;
  /** The bearer token, where the interface asks for one. */
  readonly token?: string;
  /** How many bytes an answer may have. Default: 256 MiB. */
  readonly maxBytes?: number;
}

/** A question to any page, that of a module too. */
export interface AdminQuestion {
  readonly method: 'GET' | 'POST';
  /** With its query. */
  readonly path: string;
  readonly body?: string;
  /** Ends the question, which then rejects. */
  readonly signal?: AbortSignal;
}

export type AskOptions = Pick<AdminQuestion, 'body' | 'signal'>;

export interface AdminAnswer {
  readonly status: number;
  readonly body: string;
}

/** The server answered with another status than 200. */
export class AdminRefusal extends Error {
  override readonly name = 'AdminRefusal';
  readonly path: string;
  readonly status: number;
  readonly body: string;

  constructor(path: string, { status, body }: AdminAnswer) {
    super(`${path.split('?')[0]} answers ${status}: ${body.trim().slice(0, 1_000)}`);
    this.path = path;
    this.status = status;
    this.body = body;
  }
}

const MAX_BYTES_DEFAULT = 256 * 1024 * 1024;
const HOST_AND_PORT = /^(?:\[(.+)\]|([^:/]+)):(\d{1,5})$/;

type Place = { readonly host: string; readonly port: number } | { readonly socketPath: string };

/**
 * Paths and parameters are checked by the compiler against the server's own table. `get` and `post`
 * reject with `AdminRefusal` unless the answer is 200, all of them when the server cannot be reached.
 */
export class AdminClient {
  /** For requests that answer a stream, which read it themselves. */
  readonly place: Place;
  readonly headers: { readonly authorization?: string };
  readonly #maxBytes: number;

  constructor({ address, token, maxBytes = MAX_BYTES_DEFAULT }: AdminClientOptions) {
    this.place = placeOf(address);
    this.headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    this.#maxBytes = maxBytes;
  }

  /** The text of a page. */
  async get<Path extends ReadPath>(
    path: Path,
    params?: ParamsOf<Path>,
    options?: AskOptions,
  ): Promise<string> {
    return await this.#accepted('GET', path, params, options);
  }

  /** What a command answers. */
  async post<Path extends MutatingPath>(
    path: Path,
    params?: ParamsOf<Path>,
    options?: AskOptions,
  ): Promise<string> {
    return await this.#accepted('POST', path, params, options);
  }

  /** A page of JSON; pages that have another form as well need `format: 'json'`. */
  async json<Answer, Path extends ReadPath = ReadPath>(
    path: Path,
    params?: ParamsOf<Path>,
    options?: AskOptions,
  ): Promise<Answer> {
    return JSON.parse(await this.get(path, params, options)) as Answer;
  }

  /** Counters and gauges by name, those that the regular expression `filter` matches. */
  async stats(filter = '', options?: AskOptions): Promise<ReadonlyMap<string, number>> {
    const text = await this.get('/stats', filter === '' ? {} : { filter }, options);
    const lines = text.split('\n').map((line) => /^(.+): (-?\d+)$/.exec(line));
    return new Map(
      lines.flatMap((match) => (match === null ? [] : [[match[1] ?? '', Number(match[2])]])),
    );
  }

  /** Whether the server is LIVE; false while it cannot be reached. */
  async isReady(options?: AskOptions): Promise<boolean> {
    try {
      return (await this.ask({ ...options, method: 'GET', path: '/ready' })).status === 200;
    } catch {
      return false;
    }
  }

  /** Any status is an answer here. */
  ask({ method, path, body, signal }: AdminQuestion): Promise<AdminAnswer> {
    const { place, headers } = this;
    return new Promise((resolve, reject) => {
      const options = { ...place, headers, method, path, agent: false, ...(signal && { signal }) };
      const sent = request(options, (response) => {
        const pieces: Buffer[] = [];
        let bytes = 0;
        response.on('data', (piece: Buffer) => {
          bytes += piece.length;
          pieces.push(piece);
          if (bytes > this.#maxBytes) {
            sent.destroy(new Error(`${path} answers more than ${this.#maxBytes} bytes`));
          }
        });
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(pieces).toString() }),
        );
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  async #accepted(
    method: 'GET' | 'POST',
    path: string,
    params: object = {},
    options: AskOptions = {},
  ): Promise<string> {
    const question = { ...options, method, path: `${path}${queryOf(params)}` };
    const answer = await this.ask(question);
    if (answer.status !== 200) throw new AdminRefusal(question.path, answer);
    return answer.body;
  }
}

/** With its question mark; empty without parameters. */
export function queryOf(params: object): string {
  const words = Object.entries(params).flatMap(([name, value]: [string, unknown]) => {
    if (value === undefined || value === false) return [];
    if (value === true) return [name];
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    return values.map((one) => `${name}=${encodeURIComponent(String(one))}`);
  });
  return words.length === 0 ? '' : `?${words.join('&')}`;
}

function placeOf(address: string): Place {
  const match = HOST_AND_PORT.exec(address);
  if (match === null) return { socketPath: address };
  return { host: match[1] ?? match[2] ?? '', port: Number(match[3]) };
}
