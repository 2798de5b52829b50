/** The commands of one connection whose answers are still to come, in their order. */
import type { RespValue } from '../codec/resp-value.ts';
import type { UpstreamCommandStats } from './command-stats.ts';

/** Hears of one command; exactly one of the two, once, unless it is cancelled. */
export interface CommandCallbacks {
  onAnswer(value: RespValue): void;
  /** The host did not answer. */
  onFailure(): void;
}

export interface SentCommand {
  readonly name: string;
  /** Undefined: the answer is not wanted. */
  readonly callbacks: CommandCallbacks | undefined;
  readonly sentMs: number;
  readonly stats: UpstreamCommandStats | undefined;
  isCancelled: boolean;
}

/** The number of places before the first command, after which these are let go of. */
const SPENT_MAX = 256;

export class CommandQueue {
  #commands: (SentCommand | undefined)[] = [];
  #first = 0;

  get length(): number {
    return this.#commands.length - this.#first;
  }

  push(command: SentCommand): void {
    this.#commands.push(command);
  }

  shift(): SentCommand | undefined {
    const command = this.#commands[this.#first];
    if (command === undefined) return undefined;
    this.#commands[this.#first++] = undefined;
    if (this.#first === this.#commands.length) {
      this.#commands.length = 0;
      this.#first = 0;
    } else if (this.#first >= SPENT_MAX && this.#first * 2 > this.#commands.length) {
      this.#commands = this.#commands.slice(this.#first);
      this.#first = 0;
    }
    return command;
  }
}
