/** `sluice check`: what each of several bootstraps would lose, without starting a server. */
import { configureLogging } from '../../../shared/logging/process-log.ts';
import { logSettings } from '../../../shared/logging/log-settings.ts';
import type { Options } from '../../../shared/process/options.ts';
import { findProblems } from '../../../supervisor/validation/find-problems.ts';
import { verdictOf, type Verdict } from '../../../supervisor/validation/verdict.ts';
import { commandLineContext } from '../../options/command-line-context.ts';
import { parseOptions } from '../../options/parse-options.ts';
import { type Command, type CommandOutput, usageError } from '../command.ts';
import { CHECK_HELP, parseCheckArguments, type CheckArguments } from './check-arguments.ts';
import { closingReport, fileLines, type CheckedFile } from './check-report.ts';

const EXIT_CODES: Readonly<Record<Verdict, number>> = {
  ok: 0,
  loses: 0,
  unsupported: 3,
  invalid: 1,
  unreadable: 1,
};
const WRONG_USE = 2;

export const checkCommand: Command = {
  name: 'check',
  help: CHECK_HELP,
  async run(argv, output) {
    const words = parseCheckArguments(argv);
    if (typeof words === 'string') {
      output.error(usageError(checkCommand, words));
      return WRONG_USE;
    }
    return await checkFiles(words, output);
  },
};

async function checkFiles(words: CheckArguments, output: CommandOutput): Promise<number> {
  const checked: CheckedFile[] = [];
  for (const path of words.files) {
    const options = optionsFor(path, words.serverOptions);
    if (typeof options === 'string') {
      output.error(options);
      return WRONG_USE;
    }
    if (checked.length === 0) configureLogging(logSettings(options));
    const problems = await findProblems(options);
    const file = { path, problems, verdict: verdictOf(problems) };
    checked.push(file);
    const isShown = words.format === 'text' && !(words.isQuiet && file.verdict === 'ok');
    if (isShown) output.out(fileLines(file));
  }
  output.out(closingReport(words.format, checked));
  return exitCode(checked);
}

/** A text is what a server would say of these options. */
function optionsFor(path: string, serverOptions: readonly string[]): Options | string {
  // What the check itself says goes to standard output; the log of reading stays silent.
  const words = ['--mode', 'validate', '-l', 'off', '-c', path, ...serverOptions];
  const parsed = parseOptions(words, commandLineContext());
  return parsed.kind === 'run' ? { ...parsed.options, logPath: '' } : parsed.text;
}

/** Mistakes count more than what is missing. */
function exitCode(files: readonly CheckedFile[]): number {
  const codes = new Set(files.map(({ verdict }) => EXIT_CODES[verdict]));
  return [1, 3].find((code) => codes.has(code)) ?? 0;
}
