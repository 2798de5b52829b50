/** What the completion scripts of all shells are made of. */
import type { CommandWords } from './command-options.ts';

export interface CompletionWords {
  readonly commands: readonly CompletedCommand[];
  /** Those of a server. */
  readonly options: readonly CompletedOption[];
}

export interface CompletedCommand extends CommandWords {
  readonly name: string;
  readonly summary: string;
}

export interface CompletedOption {
  /** With its dashes; one of them where there is no long form. */
  readonly flag: string;
  readonly help: string;
  /** Without its dash. */
  readonly short: string | undefined;
  readonly takesValue: boolean;
  /** The words that the value may be; undefined: anything. */
  readonly words: readonly string[] | undefined;
  readonly isPath: boolean;
}
