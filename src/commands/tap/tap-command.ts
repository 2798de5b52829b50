/** `sluice tap`: records what passes at listeners of a running server, into a file or a pipe. */
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { adminClientOf } from '../admin-place.ts';
import { type Command, usageError } from '../command.ts';
import { ADMIN_HELP, ADMIN_VALUES, adminPlaceOf, readWords } from '../words.ts';

const WRONG_USE = 2;
/** What the server says when it refuses. */
const REFUSAL_BYTES_MAX = 64 * 1024;

/** Parameters of `/tap/listen` by their words. */
const PARAMS = [
  'listener',
  'path',
  'host',
  'method',
  'status',
  'header',
  'match',
  'client',
  'sample',
  'count',
  'for',
  'body',
  'format',
] as const;

const VALUES = new Map<string, string>([
  ...ADMIN_VALUES,
  ['-o', 'output'],
  ['--output', 'output'],
  ...PARAMS.map((name) => [`--${name}`, name] as const),
]);
const FLAGS = new Map([['--secrets', 'secrets']]);

export const tapCommand: Command = {
  name: 'tap',
  help: `usage: sluice tap [OPTIONS]

Records requests of a running server, or connections, without a filter in its configuration. It ends by itself, and
with the interrupt key. Credentials and cookies in headers are left out.

${ADMIN_HELP}  --listener NAME            that listener; all of them by default
  --path PATH                requests of this path; with * at its end, whatever begins so
  --host NAME                requests for this host
  --method METHOD            requests with this method
  --status STATUS            answers of this status: 404, 5xx
  --header 'NAME: VALUE'     requests with this header
  --match JSON               a MatchPredicate of the API
  --client ADDRESS           clients of this IP address or range
  --sample PERCENT           a share of them (100)
  --count N                  requests, or reads and writes of connections, after which it ends (100)
  --for SECONDS              ends then (60)
  --body BYTES               of each body (65536)
  --format FORMAT            har (default), ndjson, or pcap, which records connections
  --secrets                  records credentials and cookies too
  -o, --output FILE          the file; standard output by default

exit code: 0 recorded, 1 the server refused or cannot be reached, 2 the words of the command are wrong
`,
  async run(argv, output) {
    const given = readWords(argv, { values: VALUES, flags: FLAGS });
    if (typeof given === 'string') {
      output.error(usageError(tapCommand, given));
      return WRONG_USE;
    }
    try {
      await record(given);
      return 0;
    } catch (error) {
      output.error(`sluice tap: ${(error as Error).message}\n`);
      return 1;
    }
  },
};

async function record(given: ReadonlyMap<string, string>): Promise<void> {
  const asked = new URLSearchParams();
  for (const name of PARAMS) {
    const value = given.get(name);
    if (value !== undefined) asked.set(name, value);
  }
  if (given.has('secrets')) asked.set('secrets', '');
  const answer = await ask(given, `/tap/listen?${asked.toString()}`);
  if (answer.statusCode !== 200) throw new Error(await refusalIn(answer));
  const path = given.get('output');
  if (path !== undefined) await pipeline(answer, createWriteStream(path, { mode: 0o600 }));
  else await pipeline(answer, process.stdout, { end: false });
}

function ask(given: ReadonlyMap<string, string>, path: string): Promise<IncomingMessage> {
  const { place, headers } = adminClientOf(adminPlaceOf(given));
  return new Promise((resolve, reject) => {
    const sent = request({ ...place, headers, method: 'POST', path, agent: false }, resolve);
    sent.on('error', reject);
    sent.end();
  });
}

async function refusalIn(answer: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of answer) {
    text += String(chunk);
    if (text.length > REFUSAL_BYTES_MAX) break;
  }
  return text.trim();
}
