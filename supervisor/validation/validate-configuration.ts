/**
 * `--mode validate`: loads and resolves the configuration as a server would, with the files that it
 * names, reports what is wrong with it and opens nothing.
 */
import { getLogger } from '../../shared/logging/process-log.ts';
import type { Options } from '../../shared/process/options.ts';
import { formatProblem } from '../config/config-error.ts';
import { isError } from '../config/follow-up.ts';
import type { Problem } from '../config/problem.ts';
import { configureServerLog } from '../start/configure-server-log.ts';
import { reportStartFailure } from '../life-cycle/start-failure.ts';
import { checkEverything, findProblems } from './find-problems.ts';
import { renderReport } from './report.ts';

const log = getLogger('main');

/** Resolves with the exit code; `print` is standard output. */
export async function validateConfiguration(
  options: Options,
  print: (text: string) => void,
): Promise<0 | 1> {
  const { validateFormat: format } = options;
  if (format === 'text') return await validateInText(options, print);
  const problems = await findProblems(options);
  print(renderReport(format, { configPath: options.configPath, problems }));
  return problems.some(isError) ? 1 : 0;
}

async function validateInText(options: Options, print: (text: string) => void): Promise<0 | 1> {
  try {
    const warn = (problem: Problem): void => log.warning(formatProblem(problem));
    await checkEverything(options, {
      warn,
      loaded: ({ bootstrap }) => configureServerLog(options, bootstrap),
    });
  } catch (error) {
    reportStartFailure(error, options);
    return 1;
  }
  print(`configuration '${options.configPath}' OK\n`);
  return 0;
}
