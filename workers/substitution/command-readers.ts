/** Every substitution command with what reads its value; the compiler checks that none is missing. */
import type { FormatCommandName } from '../../shared/substitution/commands.ts';
import type { FormatCommand } from '../../shared/substitution/format.ts';
import { ADDRESS_READERS } from './address-readers.ts';
import { HTTP_READERS } from './http-readers.ts';
import { METADATA_READERS } from './metadata-readers.ts';
import type { ReaderFactory, SubstitutionEnvironment } from './reader-factory.ts';
import { SIZE_READERS } from './size-readers.ts';
import { TIMING_READERS } from './timing-readers.ts';
import { TLS_READERS } from './tls-readers.ts';
import { textOf } from './value.ts';
import type { Reader } from './value.ts';

const READERS: Readonly<Record<FormatCommandName, ReaderFactory>> = {
  ...ADDRESS_READERS,
  ...HTTP_READERS,
  ...METADATA_READERS,
  ...SIZE_READERS,
  ...TIMING_READERS,
  ...TLS_READERS,
  COALESCE: coalesce,
};

/** The reader of a command, its value cut to the command's length where one is given. */
export function readerOf(command: FormatCommand, environment: SubstitutionEnvironment): Reader {
  const reader = READERS[command.name](command, environment);
  const { maxLength } = command;
  if (maxLength === undefined) return reader;
  return (info) => {
    const value = reader(info);
    if (typeof value === 'string') return value.slice(0, maxLength);
    return typeof value === 'object' ? textOf(value)?.slice(0, maxLength) : value;
  };
}

/** The first of the operators whose value is there and not empty. */
function coalesce({ operators = [] }: FormatCommand, environment: SubstitutionEnvironment): Reader {
  const readers = operators.map((operator) => readerOf(operator, environment));
  return (info) => {
    for (const reader of readers) {
      const value = reader(info);
      if (value !== undefined && value !== null && value !== '') return value;
    }
    return undefined;
  };
}
