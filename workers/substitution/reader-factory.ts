/**
 * How the tables of substitution commands make readers; see command-readers.ts for the whole set.
 */
import type { Clock } from '../../shared/process/clock.ts';
import type { FormatCommand } from '../../shared/substitution/format.ts';
import type { ValueReader } from '../../shared/substitution/value.ts';
import type { StreamInfo } from '../stream/stream-info.ts';

/** Undefined: there is no value; text formats then print `-`, JSON formats `null`. */
export type Reader = ValueReader<StreamInfo>;

/** What commands read besides the stream. */
export interface SubstitutionEnvironment {
  readonly clock: Clock;
  readonly hostname: string;
  /** A variable of the process's environment. */
  variable(name: string): string | undefined;
}

/** Makes the reader of one command of a format; called once per format. */
export type ReaderFactory = (
  command: FormatCommand,
  environment: SubstitutionEnvironment,
) => Reader;

/** A command without arguments. */
export function plain(reader: Reader): ReaderFactory {
  return () => reader;
}

/** A command about things that Sluice does not know; it prints as missing. */
export const unknown: ReaderFactory = () => () => undefined;

/** An empty text is no value. */
export function present(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
