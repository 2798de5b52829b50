/**
 * `--mode validate`: loads and resolves the configuration as a server would, with the files that it
 * names, reports what is wrong with it and opens nothing.
 */
import { systemClock } from '../../shared/process/clock.ts';
import { getLogger } from '../../shared/logging/process-log.ts';
import type { Options } from '../../shared/process/options.ts';
import { ConfigError, formatProblem } from '../config/config-error.ts';
import { isError } from '../config/follow-up.ts';
import type { Problem } from '../config/problem.ts';
import { configureServerLog } from '../start/configure-server-log.ts';
import { loadConfiguration } from '../start/load-configuration.ts';
import { isStartFailure, reportStartFailure } from '../life-cycle/start-failure.ts';
import { unknownFieldsOf } from '../xds/unknown-fields.ts';
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
    await checkEverything(options, warn);
  } catch (error) {
    reportStartFailure(error, options);
    return 1;
  }
  print(`configuration '${options.configPath}' OK\n`);
  return 0;
}

/** Errors and warnings alike. */
async function findProblems(options: Options): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  try {
    await checkEverything(options, (problem) => problems.push(problem));
  } catch (error) {
    if (error instanceof ConfigError) {
      problems.push(...error.problems);
    } else if (isStartFailure(error)) {
      const { code: rule, message } = error;
      problems.push({ severity: 'error', place: undefined, message, rule });
    } else {
      throw error;
    }
  }
  return problems;
}

/** Rejects with the errors; `warn` is told of what is accepted all the same. */
async function checkEverything(options: Options, warn: (problem: Problem) => void): Promise<void> {
  const configuration = await loadConfiguration(options, systemClock);
  for (const warning of configuration.warnings) warn(warning);
  configureServerLog(options, configuration.bootstrap);
  // Found only where it is needed: most configurations name no files.
  const { checkFollowedFiles } = await import('./followed-files.ts');
  const followed = await checkFollowedFiles(configuration, {
    unknownFields: unknownFieldsOf(options),
    skipSecrets: options.validateSkipSecrets,
  });
  if (followed.some(isError)) throw new ConfigError('config_invalid', followed);
  for (const warning of followed) warn(warning);
}
