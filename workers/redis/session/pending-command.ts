/** A command whose answer is to come, or whose turn is. */
import type { RespValue, RespVersion } from '../codec/resp-value.ts';
import type { Asker } from '../splitting/command-run.ts';
import type { CommandHandle } from '../upstream/command-handle.ts';

export class PendingCommand implements Asker {
  readonly #onAnswer: () => void;
  version: RespVersion;
  /** It waits until it is known who the client is. */
  held: RespValue | undefined = undefined;
  handle: CommandHandle | undefined = undefined;
  value: RespValue | undefined = undefined;

  constructor(version: RespVersion, onAnswer: () => void) {
    this.#onAnswer = onAnswer;
    this.version = version;
  }

  get isAnswered(): boolean {
    return this.value !== undefined;
  }

  answer(value: RespValue): void {
    this.value = value;
    this.handle = undefined;
    this.#onAnswer();
  }
}
