/**
 * Requests of HTTP/1.1 connections in the order in which they came: those of one connection are
 * answered one after the other, and a connection with many that wait is read no further.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** What an HTTP/1.1 connection is working on. */
export interface Answering {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export class Pipelines {
  readonly #most: number;
  readonly #serve: (answering: Answering) => Promise<void>;
  /** The newest request of each connection that is not answered yet. */
  readonly #newest = new Map<Duplex, Answering>();
  /** Requests of each connection that wait for the one before, which is being answered. */
  readonly #waiting = new WeakMap<Duplex, Answering[]>();

  /** At `most` waiting requests a connection pauses. */
  constructor(most: number, serve: (answering: Answering) => Promise<void>) {
    this.#most = most;
    this.#serve = serve;
  }

  receive(answering: Answering): void {
    const { socket } = answering.request;
    this.#newest.set(socket, answering);
    const waiting = this.#waiting.get(socket);
    if (waiting === undefined) {
      this.#waiting.set(socket, []);
      void this.#answer(answering);
      return;
    }
    waiting.push(answering);
    if (waiting.length >= this.#most) socket.pause();
  }

  newest(socket: Duplex): Answering | undefined {
    return this.#newest.get(socket);
  }

  async #answer(answering: Answering): Promise<void> {
    const { request, response } = answering;
    const { socket } = request;
    await this.#serve(answering);
    // A client may have sent the next request meanwhile.
    if (this.#newest.get(socket)?.request === request) this.#newest.delete(socket);
    if (!response.closed) await new Promise<void>((resolve) => response.once('close', resolve));
    const waiting = this.#waiting.get(socket);
    const next = socket.destroyed ? undefined : waiting?.shift();
    if (next === undefined) {
      this.#waiting.delete(socket);
      return;
    }
    if (socket.isPaused()) socket.resume();
    void this.#answer(next);
  }
}
