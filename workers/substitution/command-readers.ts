/**
 * Every substitution command with what reads its value; the compiler checks that none is missing.
 */
import { cutTo, firstOf } from '../../shared/substitution/compile-line.ts';
import type { FormatCommandName } from '../../shared/substitution/commands.ts';
import type { FormatCommand } from '../../shared/substitution/format.ts';
import { ADDRESS_READERS } from './address-readers.ts';
import { CEL_READERS } from './cel-readers.ts';
import { HTTP_READERS } from './http-readers.ts';
import { BODY_READERS } from './body-readers.ts';
import { METADATA_READERS } from './metadata-readers.ts';
import type { ReaderFactory, SubstitutionEnvironment } from './reader-factory.ts';
import { SIZE_READERS } from './size-readers.ts';
import { TIMING_READERS } from './timing-readers.ts';
import { TLS_READERS } from './tls-readers.ts';
import type { Reader } from './reader-factory.ts';

const READERS: Readonly<Record<FormatCommandName, ReaderFactory>> = {
  ...ADDRESS_READERS,
  ...CEL_READERS,
  ...HTTP_READERS,
  ...BODY_READERS,
  ...METADATA_READERS,
  ...SIZE_READERS,
  ...TIMING_READERS,
  ...TLS_READERS,
  COALESCE: coalesce,
};

/** A length may follow them, and says nothing, as in Envoy. */
const UNCUT: ReadonlySet<string> = new Set(Object.keys(BODY_READERS));

/** The reader of a command, its value cut to the command's length where one is given. */
export function readerOf(command: FormatCommand, environment: SubstitutionEnvironment): Reader {
  const reader = READERS[command.name](command, environment);
  return UNCUT.has(command.name) ? reader : cutTo(command.maxLength, reader);
}

/** The first of the operators whose value is there and not empty. */
function coalesce({ operators = [] }: FormatCommand, environment: SubstitutionEnvironment): Reader {
  return firstOf(operators.map((operator) => readerOf(operator, environment)));
}
