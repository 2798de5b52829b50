/**
 * Words that a datagram socket's reader had no room for: a service manager that is busy takes ten
 * or so, and one that never hears READY ends the service. They are said again in their order; who
 * says them and what they mean is not known here.
 */
import type { Clock, Timer } from '../process/clock.ts';

const PAUSE_MS = 50;
/** A reader that takes nothing for long needs the latest words: the oldest is given up. */
export const WAITING_WORDS_MAX = 64;

export class WaitingMessages {
  readonly #clock: Clock;
  readonly #send: (word: string) => boolean;
  readonly #words: string[] = [];
  #timer: Timer | undefined;

  /** `send` returns whether the word was taken. */
  constructor(clock: Clock, send: (word: string) => boolean) {
    this.#clock = clock;
    this.#send = send;
  }

  say(word: string): void {
    if (this.#words.length === 0 && this.#send(word)) return;
    // The first one of a word that is said again and again waits already.
    if (this.#words.at(-1) === word) return;
    this.#words.push(word);
    if (this.#words.length > WAITING_WORDS_MAX) this.#words.shift();
    this.#timer ??= this.#clock.every(PAUSE_MS, () => this.#sayAgain(), { unref: true });
  }

  #sayAgain(): void {
    for (let [word] = this.#words; word !== undefined; [word] = this.#words) {
      if (!this.#send(word)) return;
      this.#words.shift();
    }
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
