/**
 * One body on its way through zlib's threads. Gives each piece on as soon as it is there, so that
 * streams of events keep flowing. Bounded: it asks for a pause while more than its limit waits.
 */
import type { Endable } from '../../../shared/process/exceptions.ts';
import type { Transform } from 'node:stream';
import type { WorkerLoop } from '../../loop/worker-loop.ts';

/** Bytes that may wait before the sender is paused: zlib engines are made with this mark. */
export const ZLIB_WAITING_LIMIT = { writableHighWaterMark: 65_536 };

export interface ZlibBodyOwner extends Endable {
  onData(data: Buffer): void;
  /** Once, after the last piece. */
  onEnd(): void;
  onBacklog(isFull: boolean): void;
  /** Nothing follows. */
  onError(error: NodeJS.ErrnoException): void;
}

export class ZlibBody {
  readonly #engine: Transform;
  readonly #owner: ZlibBodyOwner;
  #isFull = false;

  constructor(engine: Transform, loop: WorkerLoop, owner: ZlibBodyOwner) {
    this.#owner = owner;
    this.#engine = engine;
    // None of these comes from within a call of ours: each is an event of the loop of its own.
    const inLoop = (act: () => void): void => loop.run(owner, act);
    engine.on('data', (data: Buffer) => inLoop(() => owner.onData(data)));
    engine.on('end', () => inLoop(() => owner.onEnd()));
    engine.on('drain', () => inLoop(() => this.#setFull(false)));
    engine.on('error', (error: NodeJS.ErrnoException) => inLoop(() => owner.onError(error)));
  }

  /** `data` is copied. */
  write(data: Buffer): void {
    if (data.length > 0 && !this.#engine.write(Buffer.from(data))) this.#setFull(true);
  }

  end(): void {
    this.#engine.end();
  }

  /** Nothing is called afterwards. */
  destroy(): void {
    for (const event of ['data', 'end', 'drain']) this.#engine.removeAllListeners(event);
    this.#engine.destroy();
    this.#setFull(false);
  }

  #setFull(isFull: boolean): void {
    if (this.#isFull === isFull) return;
    this.#isFull = isFull;
    this.#owner.onBacklog(isFull);
  }
}
