/**
 * What is wrong with a configuration and with the files that it names, as a list, for
 * callers that show it otherwise than a server's start does.
 */
import { systemClock } from '../../shared/process/clock.ts';
import type { Options } from '../../shared/process/options.ts';
import { ConfigError } from '../config/config-error.ts';
import { isError } from '../config/follow-up.ts';
import type { Problem } from '../config/problem.ts';
import { isStartFailure } from '../life-cycle/start-failure.ts';
import { loadConfiguration, type Configuration } from '../start/load-configuration.ts';
import { unknownFieldsOf } from '../xds/unknown-fields.ts';

/** Errors and warnings alike, each with its position where it has one. */
export async function findProblems(options: Options): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  try {
    await checkEverything(options, { warn: (problem) => problems.push(problem) });
  } catch (error) {
    problems.push(...problemsOf(error));
  }
  return problems;
}

interface Listener {
  /** Told of what is accepted all the same. */
  warn(problem: Problem): void;
  /** Called once the bootstrap itself has passed. */
  loaded?(configuration: Configuration): void;
}

/** Rejects with the errors. */
export async function checkEverything(options: Options, listener: Listener): Promise<void> {
  const configuration = await loadConfiguration(options, systemClock);
  for (const warning of configuration.warnings) listener.warn(warning);
  listener.loaded?.(configuration);
  // Found only where it is needed: most configurations name no files.
  const { checkFollowedFiles } = await import('./followed-files.ts');
  const followed = await checkFollowedFiles(configuration, {
    unknownFields: unknownFieldsOf(options),
    scriptFolders: options.scriptFolders,
    refusesRepeatedKeys: options.strictYaml,
    skipSecrets: options.validateSkipSecrets,
  });
  if (followed.some(isError)) throw new ConfigError('config_invalid', followed);
  for (const warning of followed) listener.warn(warning);
}

function problemsOf(error: unknown): readonly Problem[] {
  if (error instanceof ConfigError) return error.problems;
  if (!isStartFailure(error)) throw error;
  return [{ severity: 'error', place: undefined, message: error.message, rule: error.code }];
}
