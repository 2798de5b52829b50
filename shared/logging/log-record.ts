/** One line of the log before it becomes text. */
import type { LineLevel } from './levels.ts';

/** Where in the sources a line was written. */
export interface CallSite {
  /** Path from the project's root, of the source, not of what was built from it. */
  readonly file: string;
  readonly line: number;
  /** Empty outside of functions. */
  readonly functionName: string;
}

export interface LogRecord {
  /** Wall time. */
  readonly date: Date;
  /** Nanoseconds since `date`'s millisecond began; 0 unless the layout asks for it. */
  readonly subMsNs: number;
  /** Nanoseconds since the line before. */
  readonly elapsedNs: bigint;
  readonly level: LineLevel;
  readonly component: string;
  /** With its tags in front. */
  readonly message: string;
  readonly bareMessage: string;
  /** Empty, or `,"key":"value"` for each tag. */
  readonly tagsJson: string;
  /** Absent unless the layout asks for it. */
  readonly site: CallSite | undefined;
}

export type TextOf = (record: LogRecord) => string;
