/** `sluice completion`: what a shell completes after `sluice`, made from the tables of options and commands. */
import { type Command, usageError } from '../command.ts';
import { COMMAND_SUMMARIES } from '../../options/command-summaries.ts';
import { flagOf, type OptionSpec } from '../../options/option-spec.ts';
import { optionEntries } from '../../options/option-table.ts';
import { bashCompletion, fishCompletion, zshCompletion } from './scripts.ts';

const WRONG_USE = 2;

/** What the scripts are made of. */
export interface CompletionWords {
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  readonly options: readonly CompletedOption[];
}

export interface CompletedOption {
  readonly flag: string;
  readonly help: string;
  readonly short: string | undefined;
  readonly takesValue: boolean;
  /** The words that the value may be; undefined: anything. */
  readonly words: readonly string[] | undefined;
  readonly isPath: boolean;
}

const SHELLS = new Map([
  ['bash', bashCompletion],
  ['zsh', zshCompletion],
  ['fish', fishCompletion],
]);

export const completionCommand: Command = {
  name: 'completion',
  help: `usage: sluice completion bash|zsh|fish

Prints a script of completions for the shell. To have them in every shell:

  bash   sluice completion bash > ~/.local/share/bash-completion/completions/sluice
  zsh    sluice completion zsh > "\${fpath[1]}/_sluice"
  fish   sluice completion fish > ~/.config/fish/completions/sluice.fish
`,
  run(argv, output) {
    const [shell = '', ...rest] = argv;
    const print = SHELLS.get(shell);
    if (print === undefined || rest.length > 0) {
      output.error(
        usageError(completionCommand, `one of ${[...SHELLS.keys()].join(', ')} is expected`),
      );
      return Promise.resolve(WRONG_USE);
    }
    output.out(print({ commands: COMMAND_SUMMARIES, options: optionEntries.map(completedOption) }));
    return Promise.resolve(0);
  },
};

function completedOption([key, spec]: readonly [key: string, spec: OptionSpec]): CompletedOption {
  return {
    flag: flagOf(key),
    help: spec.help.replace(/\. .*/s, '.'),
    short: spec.short,
    takesValue: spec.kind !== 'flag',
    words: spec.kind === 'string' ? spec.words : undefined,
    isPath: key.endsWith('Path'),
  };
}
