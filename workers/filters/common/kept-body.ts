/**
 * A body, or a part of one, that a filter keeps by itself, up to the limit for what a stream may hold,
 * with the answers for one that is larger.
 */
import { CollectedBytes } from '../../../shared/bytes/collected-bytes.ts';
import type { HeldBytes } from '../../loop/held-bytes.ts';
import type { FilterCallbacks } from '../../stream/filter.ts';
import type { FilterContext } from '../filter-context.ts';

export class KeptBody {
  readonly #bytes = new CollectedBytes();
  readonly #held: HeldBytes;
  readonly #limit: number;

  constructor({ loop, bufferLimitBytes }: FilterContext, limit = bufferLimitBytes) {
    this.#held = loop.held;
    this.#limit = limit;
  }

  get length(): number {
    return this.#bytes.length;
  }

  /** Copies the piece; false when it is more than may be kept: the caller gives up. */
  add(piece: Buffer): boolean {
    if (this.#bytes.length + piece.length > this.#limit) return false;
    this.#bytes.add(Buffer.from(piece));
    this.#held.add(piece.length);
    return true;
  }

  /** All of it, which is kept no longer. */
  take(): Buffer {
    const whole = this.#bytes.joined();
    this.drop();
    return whole;
  }

  drop(): void {
    this.#held.add(-this.#bytes.length);
    this.#bytes.clear();
  }
}

export function refuseLargeRequest(context: FilterContext, callbacks: FilterCallbacks): void {
  context.countRequestTooLarge();
  callbacks.sendLocalReply({
    status: 413,
    body: 'Payload Too Large',
    details: 'request_payload_too_large',
    closesConnection: true,
  });
}

export function refuseLargeResponse(context: FilterContext, callbacks: FilterCallbacks): void {
  context.countResponseTooLarge();
  callbacks.sendLocalReply({
    status: 500,
    body: 'Internal Server Error',
    details: 'response_payload_too_large',
  });
}
