/** `sluice top`: rates, latencies, hosts and connections of a running server, again and again. */
import { systemClock } from '../../../shared/process/clock.ts';
import type { AdminClient } from '../../admin-client/admin-client.ts';
import { adminClientOf } from '../admin-place.ts';
import { type Command, type CommandOutput, usageError } from '../command.ts';
import { ADMIN_HELP, ADMIN_VALUES, adminPlaceOf, readWords } from '../words.ts';
import { readSample, type Sample } from './sample.ts';
import { screenOf } from './screen.ts';

const WRONG_USE = 2;
const INTERVAL_DEFAULT_S = 2;
const ROWS_DEFAULT = 10;
const ROWS_MAX = 1_000;
const SECONDS = /^\d{1,5}(\.\d{1,3})?$/;
const WHOLE = /^\d{1,6}$/;
/** Clears a terminal and begins at its first line. */
const CLEAR = '\u001B[H\u001B[2J';
/** What is looked at of the statistics. */
const COUNTED =
  '^(http\\..*\\.downstream_(rq_(total|active|2xx|4xx|5xx)|cx_(total|active))|cluster\\..*\\.(upstream_(rq_(total|active|5xx|time)|cx_active)|membership_(total|healthy)))$';

const VALUES = new Map<string, string>([
  ...ADMIN_VALUES,
  ['--interval', 'interval'],
  ['--count', 'count'],
  ['--rows', 'rows'],
  ['--sort', 'sort'],
]);
const SORTS = ['age', 'idle', 'bytes', 'streams'] as const;

export const topCommand: Command = {
  name: 'top',
  help: `usage: sluice top [OPTIONS]

Shows what a running server does: requests and errors a second, latencies, hosts and connections. A terminal is
refreshed; otherwise one screen follows the other as plain text.

${ADMIN_HELP}  --interval SECONDS         between two screens (${INTERVAL_DEFAULT_S})
  --count NUMBER             screens, then end (until it is interrupted)
  --rows NUMBER              clusters and connections that are shown (${ROWS_DEFAULT})
  --sort age|idle|bytes|streams
                             which connections are shown (bytes)

exit code: 0 shown, 1 the server cannot be asked, 2 the words of the command are wrong
`,
  async run(argv, output) {
    const words = readTopWords(argv);
    if (typeof words === 'string') {
      output.error(usageError(topCommand, words));
      return WRONG_USE;
    }
    try {
      await show(words, output);
      return 0;
    } catch (error) {
      output.error(`sluice top: ${(error as Error).message}\n`);
      return 1;
    }
  },
};

interface TopWords {
  readonly server: AdminClient;
  readonly intervalMs: number;
  readonly count: number;
  readonly rows: number;
  readonly sort: (typeof SORTS)[number];
}

function readTopWords(argv: readonly string[]): TopWords | string {
  const given = readWords(argv, { values: VALUES });
  if (typeof given === 'string') return given;
  const interval = given.get('interval') ?? String(INTERVAL_DEFAULT_S);
  const rows = given.get('rows') ?? String(ROWS_DEFAULT);
  const count = given.get('count');
  const sort = SORTS.find((order) => order === (given.get('sort') ?? 'bytes'));
  if (!SECONDS.test(interval) || Number(interval) === 0) return '--interval needs seconds above 0';
  if (count !== undefined && !WHOLE.test(count)) return '--count needs a number';
  if (!WHOLE.test(rows) || Number(rows) > ROWS_MAX)
    return `--rows needs a number up to ${ROWS_MAX}`;
  if (sort === undefined) return `--sort is one of ${SORTS.join(', ')}`;
  return {
    server: adminClientOf(adminPlaceOf(given)),
    intervalMs: Number(interval) * 1000,
    count: count === undefined ? Number.POSITIVE_INFINITY : Number(count),
    rows: Number(rows),
    sort,
  };
}

async function show(words: TopWords, output: CommandOutput): Promise<void> {
  const isTerminal = process.stdout.isTTY;
  let before = await sample(words);
  for (let left = words.count; left > 0; left--) {
    await new Promise<void>((resolve) => systemClock.after(words.intervalMs, resolve));
    const now = await sample(words);
    const text = screenOf(before, now, words.rows);
    const height = isTerminal ? process.stdout.rows : Number.POSITIVE_INFINITY;
    const shown = isTerminal
      ? CLEAR +
        text
          .split('\n')
          .slice(0, height - 1)
          .join('\n')
      : `${text}\n`;
    output.out(shown);
    before = now;
  }
}

async function sample({ server, rows, sort }: TopWords): Promise<Sample> {
  const info = await server.get('/server_info');
  const stats = await server.get('/stats', { format: 'json', filter: COUNTED });
  const limit = Math.max(rows, 1);
  const connections = await server.get('/connections', { format: 'json', sort, limit });
  return readSample({ info, stats, connections }, systemClock.monotonicMs());
}
