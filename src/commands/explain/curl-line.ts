/** Reads the words of a `curl` command line as far as they say what a request is. */
import type { Question } from '../../../shared/explain/read-question.ts';

/** What is known of the request so far. */
interface Draft {
  method: string | undefined;
  url: string | undefined;
  hasBody: boolean;
  readonly headers: string[];
}

type Take = (draft: Draft, value: string) => void;

const header =
  (name: string): Take =>
  ({ headers }, value) =>
    void headers.push(`${name}: ${value}`);
const ignore: Take = () => undefined;
const withBody: Take = (draft) => {
  draft.hasBody = true;
};

/** Options with a value, by their names. */
const TAKERS: ReadonlyMap<string, Take> = new Map(
  (
    [
      ['-H --header', ({ headers }, value) => void headers.push(value)],
      ['-A --user-agent', header('user-agent')],
      ['-e --referer', header('referer')],
      ['-b --cookie', header('cookie')],
      [
        '-u --user',
        (draft, value) =>
          header('authorization')(draft, `Basic ${Buffer.from(value).toString('base64')}`),
      ],
      [
        '-X --request',
        (draft, value) => {
          draft.method = value;
        },
      ],
      [
        '--url',
        (draft, value) => {
          draft.url = value;
        },
      ],
      ['-d --data --data-raw --data-binary --data-ascii --data-urlencode -F --form', withBody],
      [
        '--json',
        (draft, value) => {
          withBody(draft, value);
          header('content-type')(draft, 'application/json');
        },
      ],
      ['-o --output -w --write-out -m --max-time --connect-timeout --retry', ignore],
      ['--cacert --cert -E --key -D --dump-header -c --cookie-jar', ignore],
      ['--resolve --connect-to -x --proxy', ignore],
    ] satisfies readonly (readonly [string, Take])[]
  ).flatMap(([names, take]) => names.split(' ').map((name): [string, Take] => [name, take])),
);
const DEFAULTS = ['accept: */*', 'user-agent: curl/8'] as const;

/** `words` are those after `curl`. A text says what cannot be read. */
export function readCurl(words: readonly string[]): Question | string {
  const draft: Draft = { method: undefined, url: undefined, hasBody: false, headers: [] };
  let isHead = false;
  for (let at = 0; at < words.length; at++) {
    const [name, attached] = splitWord(words[at] ?? '');
    const take = TAKERS.get(name);
    if (take !== undefined) {
      const value = attached ?? words[++at];
      if (value === undefined) return `curl's ${name} needs a value`;
      take(draft, value);
    } else if (name === '-I' || name === '--head') isHead = true;
    else if (!name.startsWith('-')) draft.url ??= name;
  }
  const byDefault = draft.hasBody ? 'POST' : 'GET';
  draft.method ??= isHead ? 'HEAD' : byDefault;
  return questionOf(draft);
}

function questionOf({ method, url, headers }: Draft): Question | string {
  if (url === undefined) return 'the curl line has no address';
  const names = new Set(headers.map(nameOf));
  return {
    method,
    url: /^(https?:\/\/|\/)/i.test(url) ? url : `http://${url}`,
    headers: [...headers, ...DEFAULTS.filter((each) => !names.has(nameOf(each)))],
  };
}

function nameOf(line: string): string {
  return line.split(':', 1).join('').toLowerCase();
}

/** `-XPOST` and `--request=POST` are one word; flags such as `-sk` have no value. */
function splitWord(word: string): readonly [name: string, value?: string] {
  if (word.startsWith('--')) {
    const equal = word.indexOf('=');
    return equal < 0 ? [word] : [word.slice(0, equal), word.slice(equal + 1)];
  }
  const name = word.slice(0, 2);
  return word.length > 2 && TAKERS.has(name) ? [name, word.slice(2)] : [word];
}

/** Words of a line as a shell splits them, as far as quotes and backslashes go. */
export function splitShellLine(line: string): readonly string[] {
  const words: string[] = [];
  for (const [text] of line.matchAll(/(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|[^\s\\'"])+/gs)) {
    const plain = text.replaceAll(
      /\\(.)|'([^']*)'|"((?:\\.|[^"\\])*)"/gs,
      (_, escaped: string | undefined, single: string | undefined, double: string | undefined) =>
        escaped ?? single ?? (double ?? '').replaceAll(/\\(["\\$`])/g, '$1'),
    );
    if (plain !== '\n') words.push(plain);
  }
  return words;
}
