/**
 * What one row of the option table says: how an option is spelled, what value it takes, its
 * default, its help text and how `/server_info` reports it.
 */
import type { Options } from '../../shared/process/options.ts';

export type ReportValue = boolean | number | string | readonly string[];

interface CommonSpec {
  /** One-letter form without the dash. */
  readonly short?: string;
  /** Plain sentences for `--help` and docs/options.md. */
  readonly help: string;
  /** Further remarks, for docs/options.md only. */
  readonly note?: string;
  /** The key and value in `/server_info`'s `command_line_options`; absent: not reported. */
  readonly report?: readonly [key: string, value: (options: Options) => ReportValue];
  /** What the default is called in the documents where the value itself does not say it. */
  readonly defaultText?: string;
  /** True for options that Envoy's command line does not have. */
  readonly isOwn?: true;
}

export interface FlagSpec extends CommonSpec {
  readonly kind: 'flag';
}

/** An unsigned 32-bit decimal number; `undefined` when not given and without default. */
interface Uint32Spec extends CommonSpec {
  readonly kind: 'uint32';
  readonly fallback: number | undefined;
}

interface StringSpec extends CommonSpec {
  readonly kind: 'string';
  readonly fallback: string | undefined;
  /** The accepted words, for the documents and for error messages. */
  readonly words?: readonly string[];
}

/** A string option that may be given several times. */
export interface StringsSpec extends CommonSpec {
  readonly kind: 'strings';
}

export type OptionSpec = FlagSpec | Uint32Spec | StringSpec | StringsSpec;

/** `configPath` is spelled `--config-path`. */
export function flagOf(key: string): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The word for an option's value in usage lines. */
export function valueWord(spec: OptionSpec): string {
  switch (spec.kind) {
    case 'flag':
      return '';
    case 'uint32':
      return '<uint32_t>';
    case 'string':
    case 'strings':
      return '<string>';
  }
}
