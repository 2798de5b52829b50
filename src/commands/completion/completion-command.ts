/**
 * `sluice completion`: what a shell completes after `sluice`, made from the table of options and the
 * help of the commands.
 */
import { type Command, usageError } from '../command.ts';
import { loadCommand } from '../commands.ts';
import { COMMAND_SUMMARIES } from '../../options/command-summaries.ts';
import { flagOf, type OptionSpec } from '../../options/option-spec.ts';
import { optionEntries } from '../../options/option-table.ts';
import { commandWords } from './command-options.ts';
import type { CompletedOption } from './completion-words.ts';
import { bashCompletion, fishCompletion, zshCompletion } from './scripts.ts';

const WRONG_USE = 2;

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
  async run(argv, output) {
    const [shell = '', ...rest] = argv;
    const print = SHELLS.get(shell);
    if (print === undefined || rest.length > 0) {
      output.error(
        usageError(completionCommand, `one of ${[...SHELLS.keys()].join(', ')} is expected`),
      );
      return WRONG_USE;
    }
    const commands = await Promise.all(
      COMMAND_SUMMARIES.map(async ({ name, summary }) => {
        const command = name === 'completion' ? completionCommand : await loadCommand(name);
        return { name, summary, ...commandWords(command) };
      }),
    );
    output.out(print({ commands, options: optionEntries.map(completedOption) }));
    return 0;
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
