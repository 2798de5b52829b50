/**
 * Collects a request's body up to a limit of bytes and time, and all bodies together up to another.
 */
import type { Readable } from 'node:stream';
import { CollectedBytes } from '../../../shared/bytes/collected-bytes.ts';
import type { Clock } from '../../../shared/process/clock.ts';

/** How many bytes of bodies are held now. */
export class BodyBudget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  give(bytes: number): void {
    this.#left += bytes;
  }
}

export interface BodyLimits {
  readonly clock: Clock;
  readonly bytes: number;
  readonly ms: number;
  readonly budget: BodyBudget;
}

export type BodyFailure = 'too_large' | 'too_many' | 'too_slow' | 'gone';

/**
 * The body as latin1 text, or why there is none: `gone` when the client left first. Never rejects.
 */
export async function readBody(
  request: Readable,
  { clock, bytes: limitBytes, ms, budget }: BodyLimits,
): Promise<string | { readonly failed: BodyFailure }> {
  const body = new CollectedBytes();
  return await new Promise((resolve) => {
    let isSettled = false;
    const settle = (outcome: string | { readonly failed: BodyFailure }): void => {
      if (isSettled) return;
      isSettled = true;
      timer.cancel();
      budget.give(body.length);
      body.clear();
      resolve(outcome);
    };
    const timer = clock.after(ms, () => settle({ failed: 'too_slow' }), { unref: true });
    request.on('data', (chunk: Buffer) => {
      if (isSettled) return;
      if (body.length + chunk.length > limitBytes) return settle({ failed: 'too_large' });
      if (!budget.take(chunk.length)) return settle({ failed: 'too_many' });
      body.add(chunk);
    });
    request.on('end', () => settle(body.joined().toString('latin1')));
    request.on('error', () => settle({ failed: 'gone' }));
    request.on('close', () => settle({ failed: 'gone' }));
  });
}
