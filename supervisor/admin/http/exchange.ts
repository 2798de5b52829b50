/** One request of the admin listener and its answer, whichever version of HTTP carries them. */
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';

export type AdminProtocol = 'HTTP/1.1' | 'HTTP/2';

/** In the order in which they are sent; a list is a field that is sent several times. */
export type AnswerFields = readonly (readonly [string, string | readonly string[]])[];

/** An answer from below the router, as Envoy's codec gives it. */
export interface Refusal {
  readonly status: number;
  /** Whether the connection ends with it. HTTP/2 ends the stream only. */
  readonly close: boolean;
  /** The body; absent or '' is none. */
  readonly text?: string;
}

export interface AdminExchange {
  readonly protocol: AdminProtocol;
  /** The connection. */
  readonly socket: Socket;
  readonly method: string;
  readonly target: string;
  /** Names in lower case; `host` is the authority where the request has one. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The request's body. */
  readonly input: Readable;
  /** The answer's body; to be ended after `sendHead`. */
  readonly output: Writable;
  /** What this version of HTTP refuses in the head, if anything. */
  refusal(): Refusal | undefined;
  sendHead(status: number, fields: AnswerFields): void;
  /** Sends the head now, not with the first bytes of the body. */
  flushHead(): void;
  /** A whole answer with few headers and a length. Returns the bytes of its body. */
  sendBare(refusal: Refusal): number;
}
