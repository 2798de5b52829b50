/**
 * One HTTP/2 connection of a health check: requests one after the other, each answered with what
 * came back, or with nothing when the connection or the stream broke.
 */
import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  IncomingHttpHeaders,
  OutgoingHttpHeaders,
} from 'node:http2';
import { http2Module } from '../../shared/process/http2-memory.ts';
import type { ProbeTarget } from './probe.ts';

export interface Http2Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** An answer is a few bytes; nobody waits for more. */
const BODY_MAX_BYTES = 64 * 1024;
/** Requests name their own authority, which may be none of a URL. */
const ANY_AUTHORITY = 'http://localhost';

export class Http2Exchange {
  readonly #session: ClientHttp2Session;
  #stream: ClientHttp2Stream | undefined;
  #answered: ((answer: Http2Answer | undefined) => void) | undefined;
  #isGone = false;

  constructor(target: ProbeTarget) {
    const socket = target.open();
    this.#session = http2Module().connect(ANY_AUTHORITY, { createConnection: () => socket });
    this.#session.on('error', () => this.close());
    this.#session.on('close', () => this.close());
    this.#session.on('goaway', () => {
      this.#isGone = true;
    });
  }

  get isUsable(): boolean {
    return !this.#isGone && !this.#session.closed && !this.#session.destroyed;
  }

  ask(
    headers: OutgoingHttpHeaders,
    body: Buffer | undefined,
    answered: (answer: Http2Answer | undefined) => void,
  ): void {
    this.#answered = answered;
    const stream = this.#session.request(headers, { endStream: body === undefined });
    const pieces: Buffer[] = [];
    let seen: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders = {};
    let length = 0;
    stream.on('response', (response) => {
      seen = response;
    });
    stream.on('trailers', (response: IncomingHttpHeaders) => {
      trailers = response;
    });
    stream.on('data', (piece: Buffer) => {
      length += piece.length;
      if (length <= BODY_MAX_BYTES) pieces.push(piece);
    });
    stream.on('error', () => this.#finish(stream, undefined));
    stream.on('close', () => this.#finish(stream, undefined));
    stream.on('end', () => {
      const status = Number(seen[':status'] ?? 0);
      const answer = { status, headers: seen, trailers, body: Buffer.concat(pieces) };
      this.#finish(stream, status === 0 ? undefined : answer);
    });
    if (body !== undefined) stream.end(body);
    this.#stream = stream;
  }

  /** The caller hears nothing more. */
  close(): void {
    this.#isGone = true;
    const answered = this.#answered;
    this.#answered = undefined;
    this.#stream?.destroy();
    this.#session.destroy();
    answered?.(undefined);
  }

  /** As `close`, for a caller that does not want to hear. */
  cancel(): void {
    this.#answered = undefined;
    this.close();
  }

  /** A stream of an exchange that is over says nothing more. */
  #finish(stream: ClientHttp2Stream, answer: Http2Answer | undefined): void {
    if (stream !== this.#stream) return;
    const answered = this.#answered;
    this.#answered = undefined;
    this.#stream = undefined;
    answered?.(answer);
  }
}
