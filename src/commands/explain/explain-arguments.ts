/** The command line of `sluice explain`: the question, and who is asked. */
import type { Question } from '../../../shared/explain/read-question.ts';
import { splitOption } from '../../split-option.ts';
import type { AdminPlace } from '../admin-place.ts';
import { readCurl, splitShellLine } from './curl-line.ts';
import { readLogLine } from './log-line.ts';

export interface ExplainArguments {
  readonly question: Question;
  readonly format: 'text' | 'json';
  /** Options of a server that say what it serves; undefined: a running server is asked. */
  readonly serverOptions: readonly string[] | undefined;
  readonly admin: AdminPlace;
}

export const EXPLAIN_HELP = `usage: sluice explain [OPTIONS] REQUEST

Says what becomes of a request: listener, filter chain, each route with the first condition that fails, header
changes, filters, timeouts and retries, the cluster and which of its hosts may be chosen. Sends nothing.

REQUEST is one of: an address such as http://host:8080/path, a curl line (in quotes, or as words that begin
with curl), a line of an access log in the default format (in quotes).

  -c FILE                    by this bootstrap; without it a running server is asked
  --config-yaml TEXT         the same as text
  --admin ADDRESS            the server's admin interface as host:port or unix socket path (127.0.0.1:9901)
  --admin-address-path FILE  the file that the server's option of that name wrote
  --admin-token-path FILE    the token that the server's option of that name wants
  -X, --method METHOD        GET by default
  -H, --header 'NAME: VALUE' may be given several times
  --client IP                the client's address (127.0.0.1)
  --listener NAME            the listener; otherwise by the address's port, or the only one with HTTP
  --to ADDRESS:PORT          where the client connects to
  --server-name NAME         what a TLS client calls the server (the host of the address)
  --alpn LIST                protocols of a TLS client, separated by commas
  --format text|json         how the explanation is printed (text)

exit code: 0 explained, 1 the bootstrap or the server cannot be read, 2 the words of the command are wrong
`;

const OPTIONS: ReadonlyMap<string, string> = new Map([
  ['-c', 'config'],
  ['--config-path', 'config'],
  ['--config-yaml', 'yaml'],
  ['--admin', 'admin'],
  ['--admin-address-path', 'address_path'],
  ['--admin-token-path', 'token_path'],
  ['-X', 'method'],
  ['--method', 'method'],
  ['-H', 'header'],
  ['--header', 'header'],
  ['--client', 'client'],
  ['--listener', 'listener'],
  ['--to', 'to'],
  ['--server-name', 'server_name'],
  ['--alpn', 'alpn'],
  ['--format', 'format'],
]);

/** A text says what is wrong. */
export function parseExplainArguments(argv: readonly string[]): ExplainArguments | string {
  const sorted = sortWords(argv);
  if (typeof sorted === 'string') return sorted;
  const { given, headers, words } = sorted;
  const format = given.get('format') ?? 'text';
  if (format !== 'text' && format !== 'json') return '--format is one of text, json';
  const question = questionOf(words);
  if (typeof question === 'string') return question;
  return {
    question: {
      ...question,
      headers: [...question.headers, ...headers],
      method: given.get('method') ?? question.method,
      client: given.get('client'),
      listener: given.get('listener'),
      to: given.get('to'),
      serverName: given.get('server_name'),
      alpn: given.get('alpn'),
    },
    format,
    serverOptions: serverOptionsOf(given),
    admin: {
      address: given.get('admin') ?? '127.0.0.1:9901',
      addressPath: given.get('address_path'),
      tokenPath: given.get('token_path'),
    },
  };
}

interface SortedWords {
  readonly given: Map<string, string>;
  readonly headers: string[];
  /** The request. */
  readonly words: string[];
}

/** What stands behind `curl` is curl's. */
function sortWords(argv: readonly string[]): SortedWords | string {
  const sorted: SortedWords = { given: new Map(), headers: [], words: [] };
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? '';
    const [name, inline] = splitOption(word);
    const option = OPTIONS.get(name);
    if (sorted.words[0] === 'curl') sorted.words.push(word);
    else if (option !== undefined) {
      const value = inline ?? argv[++at];
      if (value === undefined) return `${name} needs a value`;
      if (option === 'header') sorted.headers.push(value);
      else sorted.given.set(option, value);
    } else if (word.startsWith('-')) return `unknown option ${name}`;
    else sorted.words.push(word);
  }
  return sorted;
}

function questionOf(words: readonly string[]): Question | string {
  const [first = '', ...rest] = words;
  if (first === '') return 'no request to explain';
  if (first === 'curl') return readCurl(rest);
  if (rest.length > 0) return `unknown word ${rest[0]}`;
  if (first.startsWith('curl ')) return readCurl(splitShellLine(first).slice(1));
  return readLogLine(first) ?? { url: first, headers: [] };
}

function serverOptionsOf(given: ReadonlyMap<string, string>): readonly string[] | undefined {
  const config = given.get('config');
  const yaml = given.get('yaml');
  if (config === undefined && yaml === undefined) return undefined;
  return [
    ...(config === undefined ? [] : ['-c', config]),
    ...(yaml === undefined ? [] : ['--config-yaml', yaml]),
  ];
}
