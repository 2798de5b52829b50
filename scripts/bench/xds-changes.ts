/**
 * Endpoints that change a hundred times a second, by CDS and EDS over one incremental stream: what does
 * traffic notice? Four rows: changes of the one cluster that has the traffic, so that one request in a
 * hundred needs a connection to the host that came back, and changes of all clusters in turn; with wrk,
 * which takes both cores, so that each millisecond that anybody computes delays a request, and with 4,000
 * requests a second, each counted from the moment it was due. Quiet and changes take turns, so that the
 * noise of the machine is seen, and the ratio is that of the medians of their p99s; wanted: at most 1.2, and
 * no request lost. With `envoy` on the path the same is measured there, in turn.
 * `node dist/scripts/bench/xds-changes.js` takes five minutes, `--quick` two. Options: `--clusters N`
 * (10,000), `--rounds N` (3), `--seconds N` of each turn (5).
 */
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { median } from './median.ts';
import { runOpenLoop } from './open-loop.ts';
import { cpuMs, treeOf } from './processes.ts';
import { startUpstream } from './upstream.ts';
import { runWrk } from './wrk.ts';
import { keepChanging, PORTS, route } from './xds-change-load.ts';
import { programs, startFleet, type Fleet, type Program } from './xds-fleet.ts';

const CHANGES_PER_SECOND = 100;
const CONNECTIONS = 16;
const FIXED_RATE = 4000;
const WANTED_RATIO = 1.2;
/** Code is compiled before it counts. */
const WARM_UP_SECONDS = 5;
const WARM_UP_CHANGES_PER_SECOND = 300;

interface Turn {
  readonly p99Ms: number;
  readonly failed: number;
  /** Milliseconds of CPU time a second: the process that was started, then those below it. */
  readonly cpu: readonly number[];
}

type Where = 'the cluster' | 'all clusters';
type Load = () => Promise<Pick<Turn, 'p99Ms' | 'failed'>>;

const { values } = parseArgs({
  options: {
    clusters: { type: 'string', default: '10000' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
});
const clusters = Number(values.clusters);
const rounds = Number(values.rounds ?? (values.quick ? 2 : 3));
const seconds = Number(values.seconds ?? (values.quick ? 3 : 5));

for (const program of programs()) await measure(program);

async function measure(program: Program): Promise<void> {
  await using fleet = await startFleet(program, clusters);
  const first = await startUpstream(fleet.scratch.file('first'), PORTS[0]);
  const second = await startUpstream(fleet.scratch.file('second'), PORTS[1]);
  try {
    const port = await route(fleet);
    const closed = { port, connections: CONNECTIONS, seconds };
    const warm = keepChanging(fleet.control, {
      perSecond: WARM_UP_CHANGES_PER_SECOND,
      clusters,
      isOfAll: false,
    });
    await runWrk({ ...closed, seconds: WARM_UP_SECONDS });
    await warm.stop();
    const { requestsPerSecond } = await runWrk({ ...closed, seconds: 2 });
    console.log(
      `${program.name}: ${clusters} clusters, ${requestsPerSecond.toFixed(0)} requests/s`,
    );
    const loads: readonly (readonly [string, Load])[] = [
      ['as fast as it goes', async () => await runWrk(closed)],
      [`${FIXED_RATE} requests/s`, async () => await runOpenLoop(port, FIXED_RATE, seconds)],
    ];
    for (const [name, load] of loads) {
      for (const where of ['the cluster', 'all clusters'] as const) {
        print(`${name}, changes of ${where}`, await takeTurns(fleet, load, where));
      }
    }
  } finally {
    await first.stop();
    await second.stop();
  }
}

async function takeTurns(
  fleet: Fleet,
  load: Load,
  where: Where,
): Promise<{ readonly quiet: readonly Turn[]; readonly busy: readonly Turn[] }> {
  const quiet: Turn[] = [];
  const busy: Turn[] = [];
  for (let round = 0; round < rounds; round += 1) {
    quiet.push(await takeTurn(fleet, load));
    const changes = keepChanging(fleet.control, {
      perSecond: CHANGES_PER_SECOND,
      clusters,
      isOfAll: where === 'all clusters',
    });
    busy.push(await takeTurn(fleet, load));
    await changes.stop();
  }
  return { quiet, busy };
}

async function takeTurn({ pid }: Fleet, load: Load): Promise<Turn> {
  const processes = treeOf(pid);
  const before = processes.map(cpuMs);
  const beganMs = performance.now();
  const { p99Ms, failed } = await load();
  const tookS = (performance.now() - beganMs) / 1000;
  const cpu = processes.map((each, at) => (cpuMs(each) - (before[at] ?? 0)) / tookS);
  return { p99Ms, failed, cpu };
}

function print(row: string, turns: Awaited<ReturnType<typeof takeTurns>>): void {
  const p99s = (list: readonly Turn[]): string =>
    list.map(({ p99Ms }) => p99Ms.toFixed(2)).join(' ');
  const [quiet, busy] = [turns.quiet, turns.busy].map((list) =>
    median(list.map(({ p99Ms }) => p99Ms)),
  );
  const ratio = (busy ?? 0) / (quiet ?? 1);
  const failed = [...turns.quiet, ...turns.busy].reduce((sum, turn) => sum + turn.failed, 0);
  const verdict = ratio <= WANTED_RATIO && failed === 0 ? 'reached' : 'MISSED ';
  console.log(
    `  ${verdict} ${row}: p99 ${p99s(turns.quiet)} ms in quiet, ${p99s(turns.busy)} ms during ` +
      `changes; medians ${ratio.toFixed(2)} times, ${failed} failed; CPU ms/s ${cpuOf(turns.quiet)}, ` +
      `${cpuOf(turns.busy)}`,
  );
}

function cpuOf(turns: readonly Turn[]): string {
  const processes = turns[0]?.cpu ?? [];
  const medians = processes.map((_, at) => median(turns.map(({ cpu }) => cpu[at] ?? 0)));
  return medians.map((each) => each.toFixed(0)).join(' + ');
}
