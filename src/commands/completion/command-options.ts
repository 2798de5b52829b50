/** The options of a command, read from its help, so that there is no second list of them. */
import type { Command } from '../command.ts';
import type { CompletedOption } from './completion-words.ts';

export interface CommandWords {
  readonly options: readonly CompletedOption[];
  /** What may stand there besides options. */
  readonly words: readonly string[];
  readonly takesFiles: boolean;
}

/** One space lies before a value, two or more before what is said of the option. */
const OPTION = /(-\w|--[a-z][\w-]*)(?: ('[^']*'|\[?[A-Z]\S*?|[a-z]+(?:\|[a-z]+)+)(?=, |\s|$))?/y;
const OPTION_LINE = /^ {2}(?=-\w|--\w)/;
const USAGE = /^usage: sluice \S+ ?(.*)/;
const WORDS = /^[a-z]+(?:\|[a-z]+)*$/;

export function commandWords({ help, words }: Command): CommandWords {
  const lines = help.split('\n');
  const usage = USAGE.exec(lines[0] ?? '')?.[1] ?? '';
  const options = lines.filter((line) => OPTION_LINE.test(line)).flatMap(optionsOfLine);
  return {
    options: [...options, ...flagsOfUsage(usage)],
    words: [...(words?.() ?? []), ...wordsOfUsage(usage)],
    takesFiles: /(?:^| )FILE/.test(usage.replaceAll(/\[[^\]]*\]/g, '')),
  };
}

function optionsOfLine(line: string): CompletedOption[] {
  const found: [flag: string, value: string | undefined][] = [];
  let at = 2;
  for (;;) {
    OPTION.lastIndex = at;
    const match = OPTION.exec(line);
    if (match === null) break;
    found.push([match[1] ?? '', match[2]]);
    at = OPTION.lastIndex;
    if (!line.startsWith(', ', at)) break;
    at += 2;
  }
  const help = line.slice(at).trim();
  return joinedShort(found).map(([flag, short, value]) => ({
    flag,
    short,
    help,
    takesValue: value !== undefined,
    words: value !== undefined && WORDS.test(value) ? value.split('|') : undefined,
    isPath: value === 'FILE' || (value === 'PATH' && flag.endsWith('-path')),
  }));
}

type Found = readonly [flag: string, value: string | undefined];

/** `-o, --output FILE` is one option, `--min SECONDS, --max SECONDS` are two. */
function joinedShort(
  found: readonly Found[],
): [flag: string, short: string | undefined, value: string | undefined][] {
  const [first, second] = found;
  if (first !== undefined && second !== undefined && !first[0].startsWith('--')) {
    return [[second[0], first[0].slice(1), second[1]]];
  }
  return found.map(([flag, value]) => [flag, undefined, value]);
}

function flagsOfUsage(usage: string): CompletedOption[] {
  const inBrackets = [...usage.matchAll(/\[(--[^\]]*)\]/g)].map(([, inside = '']) => inside);
  return inBrackets
    .flatMap((inside) => inside.split('|'))
    .filter((flag) => /^--[a-z]/.test(flag))
    .map((flag) => ({
      flag,
      short: undefined,
      help: '',
      takesValue: false,
      words: undefined,
      isPath: false,
    }));
}

function wordsOfUsage(usage: string): string[] {
  return usage
    .split(' ')
    .filter((word) => WORDS.test(word))
    .flatMap((word) => word.split('|'));
}
