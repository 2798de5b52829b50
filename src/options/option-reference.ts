/** docs/options.md, made from the option table. */
import { flagOf, valueWord, type OptionSpec } from './option-spec.ts';
import { optionEntries } from './option-table.ts';

/** The whole text of docs/options.md. */
export function optionReference(): string {
  const taken = optionEntries.filter(([, spec]) => spec.isOwn !== true);
  const own = optionEntries.filter(([, spec]) => spec.isOwn === true);
  return [
    '# Command line options',
    '',
    '<!-- Made by `node dist/scripts/pages/write-pages.js` from src/options/option-table.ts. -->',
    '',
    'All options are optional, but one of `--config-path` and `--config-yaml` is needed to start. A',
    'value follows its option as the next word (`--mode validate`) or after an equals sign',
    '(`--mode=validate`). An option that is given twice, an unknown option and a stray word are',
    'refused with exit code 1. Everything after `--` is ignored. `/server_info` shows the options of',
    'a running server under `command_line_options`.',
    '',
    "## Options of Envoy's command line",
    '',
    ...taken.flatMap(([key, spec]) => section(key, spec)),
    '## Options of Sluice',
    '',
    'These do nothing unless they are given.',
    '',
    ...own.flatMap(([key, spec]) => section(key, spec)),
    '## Options that print and exit',
    '',
    '- `--version`: the source revision, the release, `Clean` or `Modified`, `RELEASE` or `DEBUG`, and',
    '  the TLS library, separated by slashes.',
    '- `-h`, `--help`: the list of options.',
    '',
  ].join('\n');
}

function section(key: string, spec: OptionSpec): string[] {
  const value = valueWord(spec) === '' ? '' : ` ${valueWord(spec)}`;
  const names = [spec.short === undefined ? [] : [`-${spec.short}`], flagOf(key)].flat();
  const facts = [
    spec.kind === 'flag' ? undefined : `Default: ${defaultOf(spec)}`,
    spec.kind === 'string' && spec.words !== undefined
      ? `Values: ${spec.words.map((word) => `\`${word}\``).join(', ')}`
      : undefined,
    spec.kind === 'strings' ? 'May be repeated' : undefined,
  ].filter((fact) => fact !== undefined);
  const text = [spec.help, ...(spec.note === undefined ? [] : [spec.note])].join(' ');
  return [
    `### \`${names.join('`, `')}${value}\``,
    '',
    text,
    '',
    ...(facts.length === 0 ? [] : [`${facts.join('. ')}.`, '']),
  ];
}

function defaultOf(spec: Exclude<OptionSpec, { kind: 'flag' }>): string {
  if (spec.defaultText !== undefined) return spec.defaultText;
  if (spec.kind === 'strings' || spec.fallback === '' || spec.fallback === undefined) return 'none';
  return `\`${spec.fallback}\``;
}
