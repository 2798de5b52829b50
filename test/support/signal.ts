/** Waiting for a condition that is looked at when something happened, and not by time. */
import { within } from './wait.ts';

export class Signal {
  readonly #looks = new Set<() => void>();

  /** Something happened that waits may be for. */
  happened(): void {
    for (const look of this.#looks) look();
  }

  /** Resolves when `probe` holds, now or after something happened; rejects after `limitMs`. */
  async until(what: string, probe: () => boolean, limitMs: number): Promise<void> {
    if (probe()) return;
    let look = (): void => undefined;
    const seen = new Promise<void>((resolve) => {
      look = () => {
        if (probe()) resolve();
      };
    });
    this.#looks.add(look);
    try {
      await within(what, seen, limitMs);
    } finally {
      this.#looks.delete(look);
    }
  }
}
