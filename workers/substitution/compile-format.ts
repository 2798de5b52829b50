/**
 * Compiles substitution formats to functions of a stream: the readers of this folder, assembled as
 * shared/substitution/compile-line.ts does it.
 */
import { hostname } from 'node:os';

import { systemClock } from '../../shared/process/clock.ts';
import type { AccessLogFormat, JsonFormatValue } from '../../shared/resources/access-log.ts';
import {
  compileJson,
  compileLine,
  compileLogLine,
  compileText,
} from '../../shared/substitution/compile-line.ts';
import type {
  FormatOptions,
  LineFormatter,
  ReaderOf,
} from '../../shared/substitution/compile-line.ts';
import { environmentVariable } from '../../shared/process/environment.ts';
import { parseFormat } from '../../shared/substitution/parse-format.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { readerOf } from './command-readers.ts';
import type { SubstitutionEnvironment } from './reader-factory.ts';

export type Formatter = LineFormatter<StreamInfo>;

/** The process's own environment: what every format outside of tests reads. */
const processEnvironment: SubstitutionEnvironment = {
  clock: systemClock,
  hostname: hostname(),
  variable: environmentVariable,
};

/** Throws when the format is wrong: the supervisor has checked every format before. */
export function compileTextFormat(
  format: string,
  options: FormatOptions,
  environment: SubstitutionEnvironment = processEnvironment,
): Formatter {
  return compileText(format, options, readersIn(environment));
}

/** The text of a format without commands, undefined when it has any. */
export function literalOf(format: string): string | undefined {
  const parsed = parseFormat(format);
  if (!parsed.ok) return undefined;
  const [only, ...rest] = parsed.format.parts;
  if (rest.length > 0 || typeof only === 'object') return undefined;
  return only ?? '';
}

/** One line of JSON with its line end. A member whose format is one command keeps its type. */
export function compileJsonFormat(
  fields: JsonFormatValue,
  options: FormatOptions,
  environment: SubstitutionEnvironment = processEnvironment,
): Formatter {
  return compileJson(fields, options, readersIn(environment));
}

/** A configured format, whichever kind it is. */
export function compileLineFormat(format: AccessLogFormat): Formatter {
  return compileLine(format, readersIn(processEnvironment));
}

/** The same for lines of a log. */
export function compileLogFormat(format: AccessLogFormat): Formatter {
  return compileLogLine(format, readersIn(processEnvironment));
}

function readersIn(environment: SubstitutionEnvironment): ReaderOf<StreamInfo> {
  return (command) => readerOf(command, environment);
}
