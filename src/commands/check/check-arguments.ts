/** The command line of `sluice check`. */
import { splitOption } from '../../split-option.ts';

const CHECK_FORMATS = ['text', 'json', 'sarif'] as const;
export type CheckFormat = (typeof CHECK_FORMATS)[number];

export interface CheckArguments {
  readonly files: readonly string[];
  readonly format: CheckFormat;
  /** Prints no line for files that are served as written. */
  readonly isQuiet: boolean;
  /** Options of a server, which every file is checked with. */
  readonly serverOptions: readonly string[];
}

export const CHECK_HELP = `usage: sluice check [OPTIONS] FILE... [-- SERVER OPTIONS]

Checks bootstraps as --mode validate does and says for each what it would lose; opens nothing.

  --format text|json|sarif   how the findings are printed (text)
  -q, --quiet                only files with something to say
  -- SERVER OPTIONS          options of a server for every file, such as --service-node a --service-cluster b

Each file is one of: ok (served as written), loses (served, but something has no effect), unsupported
(refused only for what Sluice does not have), invalid (it has mistakes), unreadable.

exit code: 0 every file is ok or loses something, 1 a file is invalid or unreadable, 2 the words of the
command are wrong, 3 a file is unsupported and none is worse
`;

/** A text says what is wrong. */
export function parseCheckArguments(argv: readonly string[]): CheckArguments | string {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  const files: string[] = [];
  let format: CheckFormat = 'text';
  let isQuiet = false;
  for (let at = 0; at < words.length; at++) {
    const [name, inline] = splitOption(words[at] ?? '');
    if (name === '--quiet' || name === '-q') isQuiet = true;
    else if (name === '--format') {
      const word = inline ?? words[++at];
      const known = CHECK_FORMATS.find((item) => item === word);
      if (known === undefined) return `--format is one of ${CHECK_FORMATS.join(', ')}`;
      format = known;
    } else if (name.startsWith('-')) return `unknown option ${name}`;
    else files.push(name);
  }
  if (files.length === 0) return 'no file to check';
  return { files, format, isQuiet, serverOptions: end < 0 ? [] : argv.slice(end + 1) };
}
