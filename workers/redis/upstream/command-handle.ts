/** How a command is cancelled, whether it was sent or still waits. */
import type { CommandCallbacks, SentCommand } from './command-queue.ts';

/** A command that waits for the agreement on RESP3. */
export interface HeldCommand {
  readonly words: readonly string[];
  readonly callbacks: CommandCallbacks | undefined;
  command: SentCommand | undefined;
  isCancelled: boolean;
}

export interface CommandHandle {
  /** Nothing is called any more; what was sent is answered to nobody. */
  cancel(): void;
}

export class SentHandle implements CommandHandle {
  readonly #command: SentCommand;

  constructor(command: SentCommand) {
    this.#command = command;
  }

  cancel(): void {
    this.#command.isCancelled = true;
  }
}

export class HeldHandle implements CommandHandle {
  readonly #held: HeldCommand;

  constructor(held: HeldCommand) {
    this.#held = held;
  }

  cancel(): void {
    this.#held.isCancelled = true;
    if (this.#held.command !== undefined) this.#held.command.isCancelled = true;
  }
}
