/**
 * Keeps lines of several workers apart in a pipe. The kernel writes up to 4,096 bytes in one piece,
 * so writers of whole lines up to that size need no turns among themselves; who has a longer line
 * waits until none of them writes, and they wait until it is out. What a worker that died held is
 * cleared by the supervisor with everything else that it had open.
 */
import { fstatSync } from 'node:fs';
import { SharedCount, type SharedPages } from '../../../loop/shared-count.ts';

export class PipeTurn {
  /** At most one at a time. */
  readonly #long: SharedCount;
  readonly #short: SharedCount;
  #held: 'long' | 'short' | undefined = undefined;

  /** All who write to the pipe behind `fd`, in whatever worker, take turns. */
  constructor(fd: number, pages: SharedPages) {
    const { dev, ino } = fstatSync(fd);
    this.#long = new SharedCount(`long lines ${dev}:${ino}`, pages);
    this.#short = new SharedCount(`short lines ${dev}:${ino}`, pages);
  }

  /** False: somebody else's line is on its way, try again soon. A turn that is held goes on. */
  begin(isLong: boolean): boolean {
    if (isLong) {
      if (this.#held === undefined && !this.#long.tryOpen(1)) return false;
      this.#held = 'long';
      return this.#short.count() === 0;
    }
    if (this.#held !== undefined) return true;
    this.#short.add(1);
    if (this.#long.count() === 0) {
      this.#held = 'short';
      return true;
    }
    this.#short.add(-1);
    return false;
  }

  end(): void {
    if (this.#held === 'long') this.#long.add(-1);
    else if (this.#held === 'short') this.#short.add(-1);
    this.#held = undefined;
  }
}
