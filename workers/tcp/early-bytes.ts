/**
 * What a client sends while a gate decides about its connection. Reading goes on, so that the
 * client's going is seen, until as much is here as a connection may keep.
 */
import { CollectedBytes } from '../../shared/bytes/collected-bytes.ts';
import type { HeldBytes } from '../loop/held-bytes.ts';
import type { TransportHandler } from '../net/byte-stream.ts';
import type { Transport } from '../net/transport.ts';

export class EarlyBytes {
  readonly #transport: Transport;
  readonly #held: HeldBytes;
  readonly #limitBytes: number;
  readonly #kept = new CollectedBytes();
  #isPaused = false;
  /** The client sends nothing more. */
  hasEnded = false;

  constructor(transport: Transport, held: HeldBytes, limitBytes: number) {
    this.#transport = transport;
    this.#held = held;
    this.#limitBytes = limitBytes;
  }

  get bytes(): number {
    return this.#kept.length;
  }

  /** Copies the bytes. */
  keep(bytes: Buffer): void {
    this.#kept.addCopy(bytes);
    this.#held.add(bytes.length);
    this.#pause(this.#kept.length >= this.#limitBytes);
  }

  /** Nothing of it is wanted any more. */
  drop(): void {
    this.#held.add(-this.#kept.length);
    this.#kept.clear();
  }

  /** To the one that the next gate's wait has. */
  moveTo(next: EarlyBytes): void {
    for (const block of this.#take()) next.keep(block);
    next.hasEnded = this.hasEnded;
    this.#pause(false);
  }

  /** In one piece, and what the handler does within it may end the connection. */
  release(handler: TransportHandler): void {
    const bytes = Buffer.concat(this.#take());
    if (bytes.length > 0) handler.onData(bytes, 0, bytes.length);
    if (this.hasEnded && !this.#transport.closed) handler.onRemoteEnd?.();
    this.#pause(false);
  }

  #take(): readonly Buffer[] {
    this.#held.add(-this.#kept.length);
    return this.#kept.take();
  }

  #pause(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    this.#transport.pauseReading(isPaused);
  }
}
