/**
 * The log of this process. The only module with log state; everything else is given what it uses.
 */
import type { LogSettings } from './log-settings.ts';
import { LogSystem } from './log-system.ts';

/**
 * Levels, layout and output of this process's log. Before it is configured: `info`, standard error.
 */
export const processLog = new LogSystem();

/** A logger for the calling file: `const log = getLogger('upstream');` at its top. */
export const getLogger = processLog.getLogger;

/**
 * Makes this process log as its options say, at once and without loading anything. Call
 * `processLog.attachPino()` once the start is over.
 * @throws LogFileError
 */
export function configureLogging(settings: LogSettings): void {
  processLog.configure(settings);
}
