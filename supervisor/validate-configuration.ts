/** `--mode validate`: loads and resolves the configuration as a server would, and opens nothing. */
import { systemClock } from '../shared/clock.ts';
import { getLogger } from '../shared/logging/process-log.ts';
import type { Options } from '../shared/options.ts';
import { configureServerLog } from './configure-server-log.ts';
import { loadConfiguration } from './load-configuration.ts';
import { reportStartFailure } from './start-failure.ts';

const log = getLogger('main');

/** Resolves with the exit code; `print` is standard output. */
export async function validateConfiguration(
  options: Options,
  print: (text: string) => void,
): Promise<0 | 1> {
  try {
    const warn = (text: string): void => log.warning(text);
    const { bootstrap } = await loadConfiguration(options, systemClock, warn);
    configureServerLog(options, bootstrap);
  } catch (error) {
    reportStartFailure(error, options);
    return 1;
  }
  print(`configuration '${options.configPath}' OK\n`);
  return 0;
}
