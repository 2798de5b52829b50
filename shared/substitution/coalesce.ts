/** Reads the JSON that `%COALESCE({"operators": [...]})%` takes: the commands to try in order. */
import type { Struct } from '../text/dictionary.ts';
import type { FormatCommand } from './format.ts';

type CheckCommand = (
  name: string,
  argument: string,
  maxLength: number | undefined,
) => FormatCommand | string;

/** Returns the checked commands, or what is wrong in Envoy's words. */
export function coalesceOperators(
  json: string,
  check: CheckCommand,
): readonly FormatCommand[] | string {
  let document: unknown;
  try {
    document = JSON.parse(json);
  } catch {
    return 'COALESCE: failed to parse JSON configuration: JSON supplied is not valid.';
  }
  const entries = isRecord(document) ? document['operators'] : undefined;
  if (entries === undefined) {
    return "COALESCE: JSON configuration must contain 'operators' array";
  }
  if (!Array.isArray(entries)) return "COALESCE: 'operators' must be an array";
  if (entries.length === 0) return "COALESCE: 'operators' array must not be empty";
  const operators: FormatCommand[] = [];
  for (const [index, entry] of entries.entries()) {
    const operator = readEntry(entry, check);
    if (typeof operator === 'string') {
      return `COALESCE: failed to parse operator at index ${index}: ${operator}`;
    }
    operators.push(operator);
  }
  return operators;
}

function readEntry(entry: unknown, check: CheckCommand): FormatCommand | string {
  if (typeof entry === 'string') return checkKnown(entry, '', undefined, check);
  if (!isRecord(entry)) {
    return "operator entry must be either a string (command name) or an object with 'command' field";
  }
  const { command, param = '', max_length: maxLength } = entry;
  if (typeof command !== 'string') return "operator object must have 'command' field";
  if (typeof param !== 'string') return "'param' field must be a string";
  if (maxLength === undefined) return checkKnown(command, param, undefined, check);
  if (typeof maxLength !== 'number' || !Number.isInteger(maxLength)) {
    return "'max_length' field must be an integer";
  }
  if (maxLength <= 0) return "'max_length' must be a positive integer";
  return checkKnown(command, param, maxLength, check);
}

function checkKnown(
  name: string,
  argument: string,
  maxLength: number | undefined,
  check: CheckCommand,
): FormatCommand | string {
  const command = check(name, argument, maxLength);
  return command === `Not supported field in StreamInfo: ${name}`
    ? `unknown command: '${name}'`
    : command;
}

function isRecord(value: unknown): value is Struct {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
