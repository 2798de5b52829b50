/**
 * The parsed form of a substitution format, made by `parseFormat` (the supervisor checks with it,
 * workers compile it to closures).
 */
import type { FormatCommandName } from './commands.ts';

export interface FormatCommand {
  readonly name: FormatCommandName;
  /**
   * What stood between the brackets, split as the command reads it: `%REQ(X?Y)%` gives the lower
   * case names `x` and `y`; `%DYNAMIC_METADATA(a:b:c)%` its keys; `%START_TIME(%s)%` the time
   * format; other commands one word, or nothing.
   */
  readonly args: readonly string[];
  /** The value is cut to this many bytes. */
  readonly maxLength?: number;
  /**
   * The operators of COALESCE alone: the first of these with a value that is not empty is printed.
   */
  readonly operators?: readonly FormatCommand[];
}

/** Literal text (with `%%` already read as `%`) and commands, in order. */
interface ParsedFormat {
  readonly parts: readonly (string | FormatCommand)[];
}

export type FormatResult =
  | { readonly ok: true; readonly format: ParsedFormat }
  /** `error` is worded as Envoy words it. */
  | { readonly ok: false; readonly error: string };
