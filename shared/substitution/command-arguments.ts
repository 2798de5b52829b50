/**
 * Checks what a substitution command was given between its brackets, and splits it for the worker.
 * Knows each command's own rules; finding commands in a format is parse-format.ts's affair.
 */
import { unpackCel } from '../cel/expression.ts';
import { coalesceOperators } from './coalesce.ts';
import { COMMANDS, type CommandSyntax, type FormatCommandName } from './commands.ts';
import type { FormatCommand } from './format.ts';

/** Returns the checked command, or Envoy's words for what is wrong with it. */
export function checkCommand(
  name: string,
  argument: string,
  maxLength: number | undefined,
): FormatCommand | string {
  if (!isCommandName(name)) return `Not supported field in StreamInfo: ${name}`;
  const syntax: CommandSyntax = COMMANDS[name];
  const misuse = checkSyntax(name, syntax, argument, maxLength);
  if (misuse !== undefined) return misuse;
  const length = maxLength === undefined ? {} : { maxLength };
  if (name === 'COALESCE') {
    const operators = coalesceOperators(argument, checkCommand);
    return typeof operators === 'string' ? operators : { name, args: [], operators, ...length };
  }
  const args = splitArgument(name, syntax, argument);
  return typeof args === 'string' ? args : { name, args, ...length };
}

function isCommandName(name: string): name is FormatCommandName {
  return Object.hasOwn(COMMANDS, name);
}

function checkSyntax(
  name: string,
  syntax: CommandSyntax,
  argument: string,
  maxLength: number | undefined,
): string | undefined {
  if (syntax.form === 'command_only' && (argument !== '' || maxLength !== undefined)) {
    return `${name} does not take any parameters or length`;
  }
  if (syntax.required && argument === '') return `${name} requires parameters`;
  if (!syntax.length && maxLength !== undefined) {
    return `${name} does not allow length to be specified.`;
  }
  return undefined;
}

function splitArgument(
  name: FormatCommandName,
  syntax: CommandSyntax,
  argument: string,
): readonly string[] | string {
  switch (syntax.form) {
    case 'command_only':
      return [];
    case 'header':
      return headerNames(argument);
    case 'time':
      return timeFormat(argument);
    case 'keys':
      return keyPath(name, argument);
    case 'word':
      return words(name, argument);
  }
}

/** Token characters of RFC 9110; only a leading colon marks a pseudo header. */
const HEADER_NAME = /^(?::?[!#$%&'*+\-.^_`|~0-9a-z]+)?$/;

function headerNames(argument: string): readonly string[] | string {
  const names = argument.toLowerCase().split('?');
  if (names.length > 2) return `More than 1 alternative header specified in token: ${argument}`;
  if (!names.every((name) => HEADER_NAME.test(name))) {
    return 'Invalid header configuration. Format string contains invalid characters.';
  }
  return names[1] === '' ? names.slice(0, 1) : names;
}

/** A strftime newline would break the one-line-per-request rule of logs. */
const TIME_NEWLINE = /%[-_0^#]*[1-9]*(?:E|O)?n/;

function timeFormat(argument: string): readonly string[] | string {
  if (TIME_NEWLINE.test(argument)) {
    return 'Invalid header configuration. Format string contains newline.';
  }
  return argument === '' ? [] : [argument];
}

const METADATA_SOURCES: readonly string[] = [
  'DYNAMIC',
  'CLUSTER',
  'ROUTE',
  'UPSTREAM_HOST',
  'LISTENER',
  'LISTENER_FILTER_CHAIN',
  'VIRTUAL_HOST',
];

function keyPath(name: FormatCommandName, argument: string): readonly string[] | string {
  const keys = argument.split(':');
  if (name === 'METADATA') {
    const [source = ''] = keys;
    return METADATA_SOURCES.includes(source) ? keys : `${source} is not supported type of metadata`;
  }
  if (name === 'FILTER_STATE' || name === 'UPSTREAM_FILTER_STATE') {
    return checkFilterState(keys) ?? keys;
  }
  return keys;
}

function checkFilterState([key, serialization, field]: readonly string[]): string | undefined {
  if (key === undefined || key === '') {
    return 'Invalid filter state configuration, key cannot be empty.';
  }
  switch (serialization) {
    case undefined:
      return undefined;
    case 'PLAIN':
    case 'TYPED':
      return field === undefined ? undefined : FIELD_MISUSED;
    case 'FIELD':
      return field === undefined || field === '' ? FIELD_MISUSED : undefined;
    default:
      return 'Invalid filter state serialize type, only support PLAIN/TYPED/FIELD.';
  }
}

const FIELD_MISUSED =
  'Invalid filter state serialize type, FIELD should be used with the field name.';

/** Words that a command takes, per part between colons; further parts are not looked at. */
const CHOICES: {
  readonly [Name in FormatCommandName]?: readonly (readonly string[])[];
} = {
  PATH: [
    ['WQ', 'NQ'],
    ['ORIG', 'PATH', 'ORIG_OR_PATH'],
  ],
  QUERY_PARAMS: [['ORIG', 'DECODED']],
  REQUESTED_SERVER_NAME: [
    ['SNI_ONLY', 'SNI_FIRST', 'HOST_FIRST'],
    ['ORIG_OR_HOST', 'HOST', 'ORIG'],
  ],
};

const XFCC_KEYS: readonly string[] = ['by', 'hash', 'cert', 'chain', 'subject', 'uri', 'dns'];
const GRPC_STATUS_FORMS: readonly string[] = ['', 'CAMEL_STRING', 'SNAKE_STRING', 'NUMBER'];

function words(name: FormatCommandName, argument: string): readonly string[] | string {
  if (name === 'GRPC_STATUS' && !GRPC_STATUS_FORMS.includes(argument)) {
    return `GrpcStatusFormatter only supports CAMEL_STRING, SNAKE_STRING or NUMBER. Got: ${argument}`;
  }
  if (name === 'XFCC_VALUE') return xfccKey(argument);
  if (name === 'COMMON_DURATION') return durationPoints(argument);
  if (name === 'CEL' || name === 'TYPED_CEL') return packedExpression(argument);
  const choices = CHOICES[name];
  if (choices !== undefined) return chosenTexts(name, choices, argument);
  if (argument === '') return [];
  return name === 'ENVIRONMENT' ? argument.split(':') : [argument];
}

function xfccKey(argument: string): readonly string[] | string {
  if (argument === '') return 'XFCC_VALUE command requires a subcommand';
  const key = argument.toLowerCase();
  return XFCC_KEYS.includes(key)
    ? [key]
    : `XFCC_VALUE command does not support subcommand: ${argument}`;
}

/** The supervisor has packed the expressions of a format, but not those of a COALESCE. */
function packedExpression(argument: string): readonly string[] | string {
  if (unpackCel(argument) !== undefined) return [argument];
  return 'CEL expressions are not supported inside of COALESCE';
}

function durationPoints(argument: string): readonly string[] | string {
  const parts = argument.split(':');
  const [from = '', to, precision = 'ms'] = parts;
  if (to === undefined || parts.length > 3) {
    return `Invalid common duration configuration: ${argument}.`;
  }
  if (!['ms', 'us', 'ns'].includes(precision)) {
    return `Invalid common duration precision: ${precision}.`;
  }
  return [from, to, precision];
}

function chosenTexts(
  name: FormatCommandName,
  choices: readonly (readonly string[])[],
  argument: string,
): readonly string[] | string {
  const parts = argument.split(':');
  for (const [index, allowed] of choices.entries()) {
    const part = parts[index] ?? '';
    if (part !== '' && !allowed.includes(part)) {
      const list = allowed.map((choice) => `'${choice}'`).join('/');
      return `Invalid ${name} option: '${part}', only ${list} are allowed`;
    }
  }
  return argument === '' ? [] : parts;
}
