/**
 * `sluice drain`: asks a running server to drain through its admin interface, shows how far it is,
 * and ends when the drain is over. It knows the interface's two endpoints and nothing of the
 * server.
 */
import { systemClock } from '../../../shared/process/clock.ts';
import { queryOf } from '../../admin-client/admin-client.ts';
import { adminClientOf } from '../admin-place.ts';
import { type Command, type CommandOutput, usageError } from '../command.ts';
import { parseDrainArguments, DRAIN_HELP, type DrainArguments } from './drain-arguments.ts';

const PROGRESS_PERIOD_MS = 1_000;

/** Its exit code is 0 when drained (or asked to, with `--no-wait`), else 1. */
export const drainCommand: Command = {
  name: 'drain',
  help: DRAIN_HELP,
  async run(argv, output) {
    const words = parseDrainArguments(argv);
    if (typeof words === 'string') {
      output.error(usageError(drainCommand, words));
      return 1;
    }
    try {
      return await drain(words, output);
    } catch (error) {
      output.error(`sluice drain: cannot drain: ${(error as Error).message}\n`);
      return 1;
    }
  },
};

async function drain(words: DrainArguments, output: CommandOutput): Promise<0 | 1> {
  const server = adminClientOf(words);
  const answer = server.ask({ method: 'POST', path: `/drain_listeners${queryOf(words.params)}` });
  const progress = systemClock.every(PROGRESS_PERIOD_MS, () => {
    // Between two looks the server may have ended, which the answer itself tells.
    server.get('/drain_status').then(
      (body) => output.out(progressLines(body)),
      () => undefined,
    );
  });
  try {
    const { status, body } = await answer;
    if (status === 200) output.out(body);
    else output.error(`sluice drain: ${body}`);
    return status === 200 ? 0 : 1;
  } finally {
    progress.cancel();
  }
}

interface StatusPage {
  readonly listeners: readonly {
    readonly name: string;
    readonly state: string;
    readonly open: number;
    readonly idle: number;
    readonly percent: number;
    readonly deadline_s?: number;
  }[];
}

function progressLines(body: string): string {
  const { listeners } = JSON.parse(body) as StatusPage;
  return listeners
    .filter(({ state }) => state !== 'serving')
    .map(({ name, state, open, idle, percent, deadline_s: left }) => {
      const rest = left === undefined ? '' : `, at most ${Math.ceil(left)} s left`;
      return `${name}: ${state}, ${percent} %, ${open} open (${idle} idle)${rest}\n`;
    })
    .join('');
}
