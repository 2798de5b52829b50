/**
 * Turns command line words into an `Options` record, or into what has to be printed before the
 * process ends: help, versions, or a refusal in Envoy's words. It reads no file, prints
 * nothing and ends nothing.
 */
import { Command, CommanderError, Option } from 'commander';

import type { Options } from '../../shared/process/options.ts';
import { checkOptions, type HostInfo } from './check-options.ts';
import { fullHelp, shortUsage } from './help-text.ts';
import { meantWords } from './meant-words.ts';
import { OptionRefusal } from './option-refusal.ts';
import { flagOf, type OptionSpec } from './option-spec.ts';
import { optionEntries } from './option-table.ts';
import type { RawOptions } from './raw-options.ts';

export type ParsedCommandLine =
  | { kind: 'run'; options: Options; warnings: readonly string[] }
  | { kind: 'exit'; exitCode: 0 | 1; stream: 'stdout' | 'stderr'; text: string };

/** What the parser has to know about the program and the machine. */
export interface CommandLineContext {
  /** The program's name as usage lines print it. */
  readonly program: string;
  /** `revision/release/tree status/build mode/TLS library`. */
  readonly version: string;
  /** Printed by `--hot-restart-version`, unless hot restart is off. */
  readonly hotRestartVersion: string;
  /** The version of Envoy that `version` states, where one was asked for: three numbers. */
  readonly statedVersion?: string;
  readonly host: HostInfo;
}

/** @param argv the words after the program's name */
export function parseOptions(
  argv: readonly string[],
  context: CommandLineContext,
): ParsedCommandLine {
  try {
    checkStatedVersion(context.statedVersion);
    const raw = readChoices(argv);
    if (raw === 'help') return print('stdout', fullHelp(context.program));
    if (raw === 'version') {
      return print('stdout', `\n${context.program}  version: ${context.version}\n\n`);
    }
    const checked = checkOptions(raw, context.host);
    if (checked.kind === 'run') return checked;
    return print('stderr', raw.disableHotRestart ? 'disabled' : context.hotRestartVersion);
  } catch (error) {
    if (error instanceof OptionRefusal) return refuse(error, context.program);
    throw error;
  }
}

/** Readers of versions take a suffix for a release that is not out yet, and refuse it. */
function checkStatedVersion(stated: string | undefined): void {
  if (stated === undefined || /^\d{1,4}\.\d{1,4}\.\d{1,4}$/.test(stated)) return;
  throw new OptionRefusal(
    `error: SLUICE_ENVOY_VERSION is not a version such as 1.34.2: '${stated}'`,
  );
}

function print(stream: 'stdout' | 'stderr', text: string): ParsedCommandLine {
  return { kind: 'exit', exitCode: 0, stream, text };
}

function refuse(refusal: OptionRefusal, program: string): ParsedCommandLine {
  const text =
    refusal.argument === undefined
      ? `${refusal.message}\n${choiceLine(refusal.choices)}`
      : [
          `PARSE ERROR: Argument: ${refusal.argument}`,
          `             ${refusal.message}`,
          ...(refusal.suggestion === undefined
            ? []
            : [`             Did you mean ${refusal.suggestion}?`]),
          '',
          shortUsage(program),
        ].join('\n');
  return { kind: 'exit', exitCode: 1, stream: 'stderr', text };
}

function choiceLine(choices: readonly string[]): string {
  return choices.length === 0 ? '' : `       expected: ${choices.join(', ')}\n`;
}

class ExitWord extends Error {
  readonly word: 'help' | 'version';
  constructor(word: 'help' | 'version') {
    super(word);
    this.word = word;
  }
}

/** Reads every word, or stops at the first `--help` or `--version`. */
function readChoices(argv: readonly string[]): RawOptions | 'help' | 'version' {
  const command = makeCommand();
  const { words, stray } = readableTexts(argv);
  try {
    command.parse(words, { from: 'user' });
  } catch (error) {
    if (error instanceof ExitWord) return error.word;
    if (error instanceof CommanderError) throw refusalFrom(error, words);
    throw error;
  }
  if (stray !== undefined) throw unknownWord(stray);
  return command.opts<RawOptions>();
}

function makeCommand(): Command {
  const command = new Command()
    .exitOverride()
    .configureOutput({ writeErr: () => undefined, writeOut: () => undefined })
    .helpOption(false)
    .allowExcessArguments(true);
  const seen = new Set<string>();
  for (const [key, spec] of optionEntries) {
    // Registered before commander's own listener, so that a repetition is noticed before its value.
    command.on(`option:${flagOf(key).slice(2)}`, () => {
      if (seen.has(key) && spec.kind !== 'strings') {
        throw new OptionRefusal('Argument already set!', argumentName(key, spec));
      }
      seen.add(key);
    });
    command.addOption(makeOption(key, spec));
  }
  for (const [word, flags] of [
    ['help', '-h, --help'],
    ['version', '--version'],
  ] as const) {
    command.on(`option:${word}`, () => {
      throw new ExitWord(word);
    });
    command.addOption(new Option(flags));
  }
  return command;
}

function makeOption(key: string, spec: OptionSpec): Option {
  const flags = spec.short === undefined ? flagOf(key) : `-${spec.short}, ${flagOf(key)}`;
  switch (spec.kind) {
    case 'flag':
      return new Option(flags).default(false);
    case 'string':
      return new Option(`${flags} <string>`).default(spec.fallback);
    case 'strings':
      return new Option(`${flags} <string>`)
        .default([])
        .argParser((word: string, before: readonly string[]) => [...before, word]);
    case 'uint32':
      return new Option(`${flags} <uint32_t>`)
        .default(spec.fallback)
        .argParser((word: string) => readUint32(word, argumentName(key, spec)));
  }
}

function readUint32(word: string, argument: string): number {
  const number = /^\s*\+?(\d{1,10})(\s+\S.*)?\s*$/s.exec(word);
  if (number?.[2] !== undefined) {
    throw new OptionRefusal(`More than one valid value parsed from string '${word}'`, argument);
  }
  const value = number === null ? Number.NaN : Number(number[1]);
  if (!(value <= 0xffffffff)) {
    throw new OptionRefusal(`Couldn't read argument value from string '${word}'`, argument);
  }
  return value;
}

/**
 * Everything from a `--` that is not an option's value is ignored. The first word that is no option
 * ends the reading too: mistakes before it count first, and `--version` before it is answered.
 */
function readableTexts(argv: readonly string[]): {
  readonly words: readonly string[];
  readonly stray?: string;
} {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? '';
    const words = argv.slice(0, index);
    if (word === '--' || word === '--ignore_rest') return { words };
    if (!isOption(word)) return { words, stray: word };
    if (takesValue(word)) index++;
  }
  return { words: argv };
}

/**
 * A value of a one-letter option is a word of its own. Empty words and a lone dash are passed over.
 */
function isOption(word: string): boolean {
  if (word === '' || word === '-' || word === '-h' || word === '--help') return true;
  if (word === '--version') return true;
  const name = word.startsWith('--') ? word.replace(/=.*/s, '') : word;
  return optionEntries.some(([key, spec]) => isNamed(name, key, spec));
}

function isNamed(word: string, key: string, spec: OptionSpec): boolean {
  return word === flagOf(key) || (spec.short !== undefined && word === `-${spec.short}`);
}

function takesValue(word: string): boolean {
  return optionEntries.some(([key, spec]) => spec.kind !== 'flag' && isNamed(word, key, spec));
}

function refusalFrom(error: CommanderError, argv: readonly string[]): OptionRefusal {
  if (error.code === 'commander.optionMissingArgument') {
    const last = argv.at(-1) ?? '';
    const entry = optionEntries.find(([key, spec]) => isNamed(last, key, spec));
    const name = entry === undefined ? last : argumentName(...entry);
    return new OptionRefusal('Missing a value for this argument!', name);
  }
  // commander quotes the word: error: unknown option '--nosuch'
  return unknownWord(/'(.*?)'/s.exec(error.message)?.[1] ?? error.message);
}

function unknownWord(word: string): OptionRefusal {
  return new OptionRefusal("Couldn't find match for argument", word, meantWords(word));
}

/** `-c (--config-path)` or `(--mode)`, as Envoy names an option in its refusals. */
function argumentName(key: string, spec: OptionSpec): string {
  const long = `(${flagOf(key)})`;
  return spec.short === undefined ? long : `-${spec.short} ${long}`;
}
