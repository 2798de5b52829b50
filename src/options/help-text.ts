/** Usage lines and help pages, made from the option table. */
import { flagOf, valueWord, type OptionSpec } from './option-spec.ts';
import { optionEntries } from './option-table.ts';

const lineWidth = 75;

/** The word in front of an option's value, its short form first: `-c <string>`. */
function usageItem(key: string, spec: OptionSpec): string {
  const word = spec.short === undefined ? flagOf(key) : `-${spec.short}`;
  const item = `[${`${word} ${valueWord(spec)}`.trim()}]`;
  return spec.kind === 'strings' ? `${item} ...` : item;
}

/** The program with all its options, wrapped and indented. */
export function briefUsage(program: string): string {
  const items = optionEntries.map(([key, spec]) => usageItem(key, spec));
  const indent = ' '.repeat(program.length + 5);
  const lines = wrap([...items, '[--]', '[--version]', '[-h]'], lineWidth - indent.length);
  return `   ${program}  ${lines.join(`\n${indent}`)}`;
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
