/** `/logging`: lists the loggers and their levels, and changes them. */
import type { LogLevel } from '../../../shared/logging/levels.ts';
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
};

export function answerLogging(request: EndpointRequest, context: AdminContext): AdminResponse {
  const { logging } = context;
  const error = changeLevels(request.query, logging);
  const loggers = logging.levels().map(({ name, level }) => `  ${name}: ${level}\n`);
  const list = `active loggers:\n${loggers.join('')}\n`;
  return error === undefined
    ? textResponse(list)
    : textResponse(`error: ${error}\n\n${USAGE}${list}`, 400);
}

/** Undefined on success or when nothing is asked for; else why nothing was changed. */
function changeLevels(query: Query, logging: LoggingView): string | undefined {
  if (query.size === 0) return undefined;
  if (query.size > 1) return 'invalid number of parameters';
  const [[name, value] = ['', '']] = query.entries();
  if (value === '') return undefined;
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
  const known = logging.fineGrain ? undefined : new Set(logging.levels().map(({ name }) => name));
  if (changes.some(([name]) => known?.has(name) === false)) return 'unknown logger name';
  // Each is told to all workers: a name counts once, by its last level.
  for (const [name, level] of new Map(changes)) logging.set(name, level);
  return undefined;
}
