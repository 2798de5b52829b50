/**
 * Gives everything that a loop does in slices its turn: one slice in each turn of the loop, however
 * many want one, so that traffic never waits for more than that. They share the turns evenly.
 */
const SLICE_MS = 1;

/** The loop as slices see it. */
interface SlicedLoop {
  readonly clock: { readonly ms: number; refresh(): void };
  run(owner: undefined, act: () => void): void;
}

/** Takes a fraction of a millisecond; returns whether nothing is left to do. */
type TakeStep = () => boolean;

export class SliceTurns {
  readonly #loop: SlicedLoop;
  readonly #waiting = new Set<TakeStep>();
  #isAwaited = false;

  constructor(loop: SlicedLoop) {
    this.#loop = loop;
  }

  /** Calls it again and again until it says that nothing is left. */
  add(takeStep: TakeStep): void {
    this.#waiting.add(takeStep);
    this.#await();
  }

  #await(): void {
    if (this.#isAwaited || this.#waiting.size === 0) return;
    this.#isAwaited = true;
    setImmediate(() => {
      this.#isAwaited = false;
      // A piece that throws has ended with that: its next step says so.
      this.#loop.run(undefined, () => this.#takeSlice());
      this.#await();
    });
  }

  /** Takes a slice of the first, and of those behind it when it ends before the slice does. */
  #takeSlice(): void {
    const { clock } = this.#loop;
    const untilMs = clock.ms + SLICE_MS;
    for (const takeStep of this.#waiting) {
      for (;;) {
        const hasEnded = takeStep();
        clock.refresh();
        const isOver = clock.ms >= untilMs;
        if (hasEnded || isOver) this.#waiting.delete(takeStep);
        // Behind all others.
        if (!hasEnded && isOver) this.#waiting.add(takeStep);
        if (isOver) return;
        if (hasEnded) break;
      }
    }
  }
}
