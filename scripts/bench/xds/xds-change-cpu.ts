/**
 * What one change of an endpoint costs each process, by CPU time, so that other load on the machine
 * does not count: the same time with changes and in quiet, in turn, the difference divided by the
 * changes. No traffic unless `--requests N` a second are wanted, all of them for the cluster that
 * changes; then the connections that were opened to its hosts are counted for each change. With
 * `envoy` on the path the same is measured there. Options: `--clusters N` (10,000), `--rate N`
 * changes a second (100), `--rounds N` (5), `--seconds N` of each turn (4), `--workers N` (2),
 * `--all` (changes of all clusters in turn), `--only NAME`.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runOpenLoop } from '../support/open-loop.ts';
import { threadTimes, treeOf, usedBetween, type ThreadTimes } from '../support/processes.ts';
import { startUpstream } from '../support/upstream.ts';
import { CHANGED_CLUSTER, keepChanging, PORTS, route } from './xds-change-load.ts';
import { programs, startFleet, type Fleet, type Program } from './xds-fleet.ts';

const { values } = parseArgs({
  options: {
    clusters: { type: 'string', default: '10000' },
    rate: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    workers: { type: 'string', default: '2' },
    requests: { type: 'string', default: '0' },
    all: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
const clusters = Number(values.clusters);
const rate = Number(values.rate);
const seconds = Number(values.seconds);
const requests = Number(values.requests);
const CONNECTIONS = `cluster.${CHANGED_CLUSTER}.upstream_cx_total`;
/** Code is compiled before it counts. */
const WARM_UP_CHANGES = 3000;
const WARM_UP_RATE = 300;

interface Turn {
  readonly times: readonly [before: ThreadTimes, after: ThreadTimes];
  readonly connections: number;
  readonly failed: number;
}

for (const program of programs()) {
  if (values.only === undefined || values.only === program.name) await measure(program);
}

async function measure(program: Program): Promise<void> {
  await using fleet = await startFleet(program, clusters, { concurrency: Number(values.workers) });
  const first = await startUpstream(fleet.scratch.file('first'), PORTS[0]);
  const second = await startUpstream(fleet.scratch.file('second'), PORTS[1]);
  try {
    const port = await route(fleet);
    await changes(fleet, WARM_UP_RATE, () => delay((WARM_UP_CHANGES / WARM_UP_RATE) * 1000));
    const load = async (): Promise<number> => {
      if (requests > 0) return (await runOpenLoop(port, requests, seconds)).failed;
      await delay(seconds * 1000);
      return 0;
    };
    const quiet: Turn[] = [];
    const busy: Turn[] = [];
    let sent = 0;
    for (let round = 0; round < Number(values.rounds); round += 1) {
      quiet.push(await turn(fleet, load));
      busy.push(
        await turn(fleet, async () => {
          let failed = 0;
          sent += await changes(fleet, rate, async () => void (failed = await load()));
          return failed;
        }),
      );
    }
    print(program.name, fleet.pid, { quiet, busy, sent });
  } finally {
    await first.stop();
    await second.stop();
  }
}

/** How many were sent meanwhile. */
async function changes(
  { control }: Fleet,
  perSecond: number,
  meanwhile: () => Promise<void>,
): Promise<number> {
  const sending = keepChanging(control, { perSecond, clusters, isOfAll: values.all });
  await meanwhile();
  return await sending.stop();
}

async function turn(fleet: Fleet, act: () => Promise<number>): Promise<Turn> {
  const connections = await counter(fleet, CONNECTIONS);
  const before = threadTimes(fleet.pid);
  const failed = await act();
  const after = threadTimes(fleet.pid);
  const opened = (await counter(fleet, CONNECTIONS)) - connections;
  return { times: [before, after], connections: opened, failed };
}

async function counter({ admin }: Fleet, name: string): Promise<number> {
  const text = await (await fetch(`http://${admin}/stats?filter=^${name}$`)).text();
  return Number(/: (\d+)/.exec(text)?.[1] ?? 0);
}

function print(
  name: string,
  root: number,
  { quiet, busy, sent }: { quiet: readonly Turn[]; busy: readonly Turn[]; sent: number },
): void {
  const sum = (turns: readonly Turn[], of: (turn: Turn) => number): number =>
    turns.reduce((total, each) => total + of(each), 0);
  console.log(`${name}: ${clusters} clusters, ${sent} changes, ms of CPU time for each change`);
  for (const [at, pid] of treeOf(root).entries()) {
    const columns = (['main', 'others'] as const).map((kind) => {
      const of = ({ times }: Turn): number => usedBetween(times, pid)[kind];
      const perChange = (sum(busy, of) - sum(quiet, of)) / sent;
      return `${kind} ${perChange.toFixed(3)} (quiet ${(sum(quiet, of) / (quiet.length * seconds)).toFixed(1)} ms/s)`;
    });
    console.log(`  ${at === 0 ? 'first process' : `child ${at}      `} ${columns.join(', ')}`);
  }
  if (requests === 0) return;
  const opened = (turns: readonly Turn[]): number => sum(turns, ({ connections }) => connections);
  const failed = sum([...quiet, ...busy], (each) => each.failed);
  console.log(
    `  connections opened for each change ${((opened(busy) - opened(quiet)) / sent).toFixed(2)}, ${failed} failed`,
  );
}
