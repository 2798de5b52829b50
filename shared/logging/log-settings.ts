/** What a process has to know to log as the command line says; plain data that workers inherit. */
import type { Options } from '../process/options.ts';
import type { LogComponent } from './components.ts';
import { defaultLogFormat } from './default-format.ts';
import type { LogLevel } from './levels.ts';

/** A level for all files whose name matches (see `matchesFile`), or for all of one group. */
export interface FileLevel {
  readonly pattern: string;
  readonly level: LogLevel;
  /** The pattern is the name of a component: it means the files that log as that. */
  readonly isGroup?: true;
}

/** The levels of all loggers, complete: applying it forgets what was set before. */
export interface LogLevels {
  /** For every logger that is not named. */
  readonly default: LogLevel;
  readonly components: Readonly<Partial<Record<LogComponent, LogLevel>>>;
  /** With per-file loggers: the first pattern that matches a file decides. */
  readonly files: readonly FileLevel[];
}

export interface LogSettings {
  readonly levels: LogLevels;
  /** The layout of a line, from the command line or the bootstrap. */
  readonly format: string;
  readonly isEscaped: boolean;
  /** One logger per source file instead of one per component. */
  readonly isFineGrain: boolean;
  /** Empty: standard error. */
  readonly path: string;
  /** Whether an error's stack is one line of the log instead of one per frame. */
  readonly isStackSingleEntry: boolean;
}

export function logSettings(options: Options): LogSettings {
  return {
    levels: {
      default: options.logLevel,
      components: Object.fromEntries(
        options.componentLogLevels.map(({ component, level }) => [component, level]),
      ),
      files: [],
    },
    format: layoutOf(options),
    isEscaped: options.logFormatEscaped,
    isFineGrain: options.enableFineGrainLogging,
    path: options.logPath,
    isStackSingleEntry: options.logStacktraceSingleEntry,
  };
}

/** With per-file loggers the default layout leaves out the component's name. */
function layoutOf(options: Options): string {
  return options.enableFineGrainLogging && !options.isLogFormatSet
    ? defaultLogFormat.replace('[%n]', '')
    : options.logFormat;
}
