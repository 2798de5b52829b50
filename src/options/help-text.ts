/** Usage lines and help pages, made from the option table. */
import { COMMAND_SUMMARIES } from './command-summaries.ts';
import { flagOf, valueWord, type OptionSpec } from './option-spec.ts';
import { optionEntries } from './option-table.ts';

const lineWidth = 75;

const EXAMPLES = [
  ['-c bootstrap.yaml', 'serves'],
  ['-c bootstrap.yaml --mode validate', 'says what is wrong with the file'],
  ['-c bootstrap.yaml --restart-epoch 1', 'takes over from the server of epoch 0'],
  ['reverse-proxy --from :8080 --to localhost:3000', 'passes every request on'],
] as const;

/** The word in front of an option's value, its short form first: `-c <string>`. */
function usageItem(key: string, spec: OptionSpec): string {
  const word = spec.short === undefined ? flagOf(key) : `-${spec.short}`;
  const item = `[${`${word} ${valueWord(spec)}`.trim()}]`;
  return spec.kind === 'strings' ? `${item} ...` : item;
}

/** The program with all its options, wrapped and indented. */
function briefUsage(program: string): string {
  const items = optionEntries.map(([key, spec]) => usageItem(key, spec));
  const indent = ' '.repeat(program.length + 5);
  const lines = wrap([...items, '[--]', '[--version]', '[-h]'], lineWidth - indent.length);
  return `   ${program}  ${lines.join(`\n${indent}`)}`;
}

/** What follows a command line that cannot be read. */
export function shortUsage(program: string): string {
  const commands = COMMAND_SUMMARIES.map(({ name }) => name).join(', ');
  return [
    `Usage: ${program} -c FILE [OPTIONS]`,
    `       ${program} COMMAND [OPTIONS]    ${commands}`,
    `       ${program} --help               every option and command`,
    '',
  ].join('\n');
}

/** What `--help` prints. */
export function fullHelp(program: string): string {
  const rows = optionEntries.map(([key, spec]) => {
    const value = valueWord(spec) === '' ? '' : ` ${valueWord(spec)}`;
    const long = `${flagOf(key)}${value}`;
    const head = spec.short === undefined ? long : `-${spec.short}${value},  ${long}`;
    return helpRow(
      spec.kind === 'strings' ? `${head}  (accepted multiple times)` : head,
      spec.help,
    );
  });
  return [
    '',
    'USAGE: ',
    '',
    briefUsage(program),
    '',
    '',
    'Where: ',
    '',
    ...rows,
    helpRow('--,  --ignore_rest', 'Ignore everything that follows.'),
    helpRow('--version', 'Print version information and exit.'),
    helpRow('-h,  --help', 'Print this text and exit.'),
    '',
    'Commands (each explains itself with --help): ',
    '',
    ...COMMAND_SUMMARIES.map(
      ({ name, summary }) => `   ${`${program} ${name}`.padEnd(22)}  ${summary}`,
    ),
    '',
    'Examples: ',
    '',
    ...EXAMPLES.map(([words, meaning]) => `   ${`${program} ${words}`.padEnd(46)}  ${meaning}`),
    '',
    'Documents: docs/README.md beside the program',
    '',
    `   ${program}`,
    '',
    '',
  ].join('\n');
}

function helpRow(head: string, help: string): string {
  const lines = wrap(help.split(' '), lineWidth - 5).map((line) => `     ${line}`);
  return `   ${head}\n${lines.join('\n')}\n`;
}

function wrap(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
