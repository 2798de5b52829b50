/**
 * The file behind an admin access log: the first line is written at once, later ones at the flush
 * interval or when the buffer is full, as Envoy's files. Reopened on SIGUSR1.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { appendFlags } from '../../../shared/process/append-flags.ts';
import type { Clock, Timer } from '../../../shared/process/clock.ts';

const BUFFER_CHARACTERS_MAX = 64 * 1024;

export interface AdminLogFileOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly flushIntervalMs: number;
  readonly onFailure: (text: string) => void;
}

export class AdminLogFile {
  readonly #path: string;
  readonly #onFailure: (text: string) => void;
  readonly #flushing: Timer;
  #descriptor: number;
  #lines: string[] = [];
  #characters = 0;
  #isFirst = true;

  /** Throws the error of `open`. `onFailure` is told of each later write or open that failed. */
  constructor(options: AdminLogFileOptions) {
    const { path, clock, flushIntervalMs } = options;
    this.#path = path;
    this.#onFailure = options.onFailure;
    this.#descriptor = openSync(path, appendFlags(path), 0o644);
    this.#flushing = clock.every(flushIntervalMs, () => this.flush(), { unref: true });
  }

  write(line: string): void {
    this.#lines.push(line);
    this.#characters += line.length;
    if (this.#isFirst || this.#characters >= BUFFER_CHARACTERS_MAX) this.flush();
    this.#isFirst = false;
  }

  // A full disk must not take the server down: what cannot be written is lost, as in Envoy.
  flush(): void {
    if (this.#lines.length === 0) return;
    const text = this.#lines.join('');
    this.#lines = [];
    this.#characters = 0;
    try {
      // Lines have one character per byte.
      writeSync(this.#descriptor, Buffer.from(text, 'latin1'));
    } catch (error) {
      this.#onFailure(`cannot write '${this.#path}': ${(error as Error).message}`);
    }
  }

  /** Keeps the old file when the new one cannot be opened. */
  reopen(): void {
    this.flush();
    try {
      const descriptor = openSync(this.#path, appendFlags(this.#path), 0o644);
      closeSync(this.#descriptor);
      this.#descriptor = descriptor;
    } catch (error) {
      this.#onFailure(`cannot reopen '${this.#path}': ${(error as Error).message}`);
    }
  }

  close(): void {
    this.#flushing.cancel();
    this.flush();
    closeSync(this.#descriptor);
  }
}
