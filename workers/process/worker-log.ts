/** How a worker logs: by component, and with pino once that is loaded. */
import { escapeControls } from '../../shared/logging/escape.ts';
import { isLogComponent } from '../../shared/logging/components.ts';
import { getLogger, processLog } from '../../shared/logging/process-log.ts';
import { errorText } from '../../shared/text/error-text.ts';
import type { DataPlaneEnv } from '../loop/data-plane-env.ts';

/** Without pino the log goes on writing by itself. */
export async function attachPino(): Promise<void> {
  try {
    await processLog.attachPino();
  } catch (error) {
    getLogger('main').warning(`cannot load pino: ${errorText(error)}`);
  }
}

/** The data plane names the component of each line; a name that is none is the main one's. */
export function componentLog(): DataPlaneEnv['log'] {
  const loggers = new Map<string, ReturnType<typeof getLogger>>();
  return (level, component, message) => {
    if (level === 'off') return;
    let logger = loggers.get(component);
    if (logger === undefined) {
      logger = getLogger(isLogComponent(component) ? component : 'main');
      loggers.set(component, logger);
    }
    logger.log(level, message);
  };
}

/** A line that is wanted whatever the level is. */
export function writeWatched(message: string): void {
  processLog.emit({
    level: 'debug',
    component: 'http',
    message: escapeControls(message),
    tags: undefined,
    frame: undefined,
  });
}
