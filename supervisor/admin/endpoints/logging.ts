/** `/logging`: lists the loggers and their levels, and changes them. */
import type { LogLevel } from '../../../shared/logging/levels.ts';
import { matchesGlob } from '../../../shared/logging/file-pattern.ts';
import { logLevelByName, logLevelNames } from '../../../shared/logging/levels.ts';
import type { AdminContext, LoggingView } from '../admin-context.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import { oneOf, text, words } from '../../http-pages/params.ts';
import type { EndpointRequest } from '../admin-route.ts';
import { textResponse } from '../http/responses.ts';
import type { Query } from '../../http-pages/query.ts';

const USAGE =
  'usage: /logging?<name>=<level> (change single level)\n' +
  'usage: /logging?paths=name1:level1,name2:level2,... (change multiple levels)\n' +
  'usage: /logging?level=<level> (change all levels)\n' +
  'usage: /logging?group=<group_name>:<level> (change group of loggers)\n' +
  `levels: ${logLevelNames.join(' ')} \n`;

/** What is shown; any logger's name is a parameter too, so that the query itself is read. */
export const LOGGING_PARAMS = {
  paths: text(
    'Change multiple logging levels by setting to <logger_name1>:<desired_level1>,<logger_name2>:<desired_level2>. If fine grain logging is enabled, use __FILE__ or a glob experision as the logger name. For example, source/common*:warning',
  ),
  group: text(
    'Change given logger group to desired level, set to <logger_group_name>:<desired_level>. logger_group_name must be a logger name.',
  ),
  level: oneOf({
    help: "desired logging level, this will change all loggers's level",
    values: words('', 'trace', 'debug', 'info', 'warning', 'error', 'critical', 'off'),
    byDefault: '',
  }),
  for: text('Seconds after which the levels go back to what they were before'),
};

/** A day. */
const FOR_MAX_S = 24 * 60 * 60;

export function answerLogging(request: EndpointRequest, context: AdminContext): AdminResponse {
  const { logging } = context;
  const error = changeForTime(request.query, logging);
  const loggers = logging.levels().map(({ name, level }) => `  ${name}: ${level}\n`);
  const { leftMs } = logging.timed;
  const end = leftMs === undefined ? '' : `levels go back in ${Math.ceil(leftMs / 1000)} s\n`;
  const list = `active loggers:\n${loggers.join('')}\n${end}`;
  return error === undefined
    ? textResponse(list)
    : textResponse(`error: ${error}\n\n${USAGE}${list}`, 400);
}

/** A change with a time goes back after it; one without stays, and what was set before it too. */
function changeForTime(query: Query, logging: LoggingView): string | undefined {
  const { timed } = logging;
  const changes = [...query.entries()].filter(([name]) => name !== 'for');
  const wanted = query.nonEmpty('for');
  const seconds = wanted === undefined ? undefined : secondsOf(wanted);
  if (seconds === 0) return `for is a number of seconds up to ${FOR_MAX_S}`;
  if (changes.length > 1) return 'invalid number of parameters';
  const [[name, value] = ['', '']] = changes;
  if (value === '') return seconds === undefined ? undefined : 'for goes with a change of levels';
  const kept = logging.snapshot();
  const error = changeLevels(name, value, logging);
  if (error !== undefined) return error;
  if (seconds === undefined) timed.keep();
  else timed.begin(seconds * 1000, kept);
  return undefined;
}

/** 0 for what is none. */
function secondsOf(text: string): number {
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return seconds <= FOR_MAX_S ? seconds : 0;
}

/** Undefined on success; else why nothing was changed. */
function changeLevels(name: string, value: string, logging: LoggingView): string | undefined {
  switch (name) {
    case 'level':
      return changeAll(value, logging);
    case 'paths':
      return changeSeveral(value, logging);
    case 'group':
      return changeGroup(value, logging);
    default:
      return changeSome([[name, value]], logging);
  }
}

function changeAll(levelName: string, logging: LoggingView): string | undefined {
  const level = logLevelByName(levelName);
  if (level === undefined) return 'unknown logger level';
  logging.setAll(level);
  return undefined;
}

// `name:level` as Envoy has it, and `name=level` too; empty parts are skipped.
function changeSeveral(value: string, logging: LoggingView): string | undefined {
  const pairs: [string, string][] = [];
  for (const part of value.split(',').filter((text) => text !== '')) {
    const pair = splitPair(part);
    if (pair === undefined) return 'empty logger name or empty logger level';
    pairs.push(pair);
  }
  return changeSome(pairs, logging);
}

function changeGroup(value: string, logging: LoggingView): string | undefined {
  if (!logging.fineGrain) return 'group parameter requires fine-grain logging to be enabled';
  const [name, levelName] = splitPair(value) ?? [];
  if (name === undefined || levelName === undefined) {
    return 'empty logger name or empty logger level in group';
  }
  const level = logLevelByName(levelName);
  if (level === undefined) return 'unknown logger level';
  return logging.setGroup(name, level) ? undefined : 'too many levels are set';
}

function splitPair(part: string): [string, string] | undefined {
  const separator = /[:=]/.exec(part);
  if (separator === null) return undefined;
  const name = part.slice(0, separator.index);
  const level = part.slice(separator.index + 1);
  return name === '' || level === '' ? undefined : [name, level];
}

/** All or nothing: levels and names are checked before the first one is set. */
function changeSome(
  pairs: readonly (readonly [string, string])[],
  logging: LoggingView,
): string | undefined {
  const changes: [string, LogLevel][] = [];
  for (const [name, levelName] of pairs) {
    const level = logLevelByName(levelName);
    if (level === undefined) return 'unknown logger level';
    changes.push([name, level]);
  }
  // A file may log later, or in another process.
  const named = logging.fineGrain ? changes : expand(changes, logging);
  if (named === undefined) return 'unknown logger name';
  // Each is told to all workers: a name counts once, by its last level.
  for (const [name, level] of new Map(named)) logging.set(name, level);
  return undefined;
}

/** Every logger that a name or a glob means; undefined where one of them means none. */
function expand(
  changes: readonly (readonly [string, LogLevel])[],
  logging: LoggingView,
): readonly (readonly [string, LogLevel])[] | undefined {
  const known = logging.levels().map(({ name }) => name);
  const expanded: [string, LogLevel][] = [];
  for (const [glob, level] of changes) {
    const meant = known.filter(
      (name) => name === glob || (isGlob(glob) && matchesGlob(glob, name)),
    );
    if (meant.length === 0) return undefined;
    for (const name of meant) expanded.push([name, level]);
  }
  return expanded;
}

function isGlob(name: string): boolean {
  return /[*?]/.test(name);
}
