/**
 * The severity levels of the process log: their names, order, short forms and what `-l` accepts.
 */

/** From the most talkative to silence; the index is the severity. */
export const logLevelNames = [
  'trace',
  'debug',
  'info',
  'warning',
  'error',
  'critical',
  'off',
] as const;

export type LogLevel = (typeof logLevelNames)[number];

/** A level that a line can have; `off` is only a threshold. */
export type LineLevel = Exclude<LogLevel, 'off'>;

/** Severity of a level: 0 for `trace` to 6 for `off`. */
export const severityOf: Readonly<Record<LogLevel, number>> = {
  trace: 0,
  debug: 1,
  info: 2,
  warning: 3,
  error: 4,
  critical: 5,
  off: 6,
};

/** What `%L` prints. */
export const shortLevelNames: Readonly<Record<LogLevel, string>> = {
  trace: 'T',
  debug: 'D',
  info: 'I',
  warning: 'W',
  error: 'E',
  critical: 'C',
  off: 'O',
};

/** The level of that exact name, as the admin interface takes it: no `warn`, no upper case. */
export function logLevelByName(name: string): LogLevel | undefined {
  return logLevelNames.find((level) => level === name);
}

/** The level for a word of the command line, where `warn` means `warning`. */
export function logLevelFromOption(word: string): LogLevel | undefined {
  return word === 'warn' ? 'warning' : logLevelByName(word);
}
