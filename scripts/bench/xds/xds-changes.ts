/**
 * Endpoints that change a hundred times a second, by CDS and EDS over one incremental stream: what
 * does traffic notice? Four rows: changes of the one cluster that has the traffic, so that one
 * request in a hundred needs a connection to the host that came back, and changes of all clusters
 * in turn; with wrk, which takes both cores, so that each millisecond that anybody computes delays
 * a request, and with 4,000 requests a second, each counted from the moment it was due. Quiet and
 * changes take turns, so that the noise of the machine is seen, and the ratio is that of the
 * medians of their p99s; wanted: at most 1.2, and no request lost. The control plane runs at a low
 * priority, since it stands for another machine; the rate that it reached is printed. With `envoy`
 * on the path the same is measured there, in turn. `node dist/scripts/bench/xds/xds-changes.js`
 * takes five minutes, `--quick` two. Options: `--clusters N` (10,000), `--rounds N` (3), `--seconds
 * N` of each turn (5).
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { makeScratch } from '../../../test/support/scratch.ts';
import { median } from '../support/median.ts';
import { runOpenLoop } from '../support/open-loop.ts';
import { cpuMs, treeOf } from '../support/processes.ts';
import { startUpstream } from '../support/upstream.ts';
import { runWrk } from '../support/wrk.ts';
import { PORTS } from './xds-change-load.ts';
import type { Asked, Said } from './xds-changes-main.ts';
import { programs } from './xds-fleet.ts';

const CHANGES_PER_SECOND = 100;
const CONNECTIONS = 16;
const FIXED_RATE = 4000;
const WANTED_RATIO = 1.2;
/** A control plane that gives way too often has not asked for what is measured. */
const LEAST_CHANGES_PER_SECOND = 95;
/** Code is compiled before it counts. */
const WARM_UP_SECONDS = 5;
const WARM_UP_CHANGES_PER_SECOND = 300;

interface Turn {
  readonly p99Ms: number;
  readonly failed: number;
  /** Milliseconds of CPU time a second: the process that was started, then those below it. */
  readonly cpu: readonly number[];
}

/** A server, its control plane and the way to it. */
interface Fleet {
  readonly port: number;
  readonly pid: number;
  begin(perSecond: number, isOfAll: boolean): void;
  /** How many changes were sent a second. */
  end(): Promise<number>;
  stop(): Promise<void>;
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

for (const { name } of programs()) await measure(name);

async function measure(name: string): Promise<void> {
  using scratch = makeScratch();
  const first = await startUpstream(scratch.file('first'), PORTS[0]);
  const second = await startUpstream(scratch.file('second'), PORTS[1]);
  try {
    const fleet = await startOwnFleet(name);
    const { port } = fleet;
    const closed = { port, connections: CONNECTIONS, seconds };
    fleet.begin(WARM_UP_CHANGES_PER_SECOND, false);
    await runWrk({ ...closed, seconds: WARM_UP_SECONDS });
    await fleet.end();
    const { requestsPerSecond } = await runWrk({ ...closed, seconds: 2 });
    console.log(`${name}: ${clusters} clusters, ${requestsPerSecond.toFixed(0)} requests/s`);
    const loads: readonly (readonly [string, Load])[] = [
      ['as fast as it goes', async () => await runWrk(closed)],
      [`${FIXED_RATE} requests/s`, async () => await runOpenLoop(port, FIXED_RATE, seconds)],
    ];
    for (const [load, run] of loads) {
      for (const where of ['the cluster', 'all clusters'] as const) {
        print(`${load}, changes of ${where}`, await takeTurns(fleet, run, where));
      }
    }
    await fleet.stop();
  } finally {
    await first.stop();
    await second.stop();
  }
}

async function startOwnFleet(name: string): Promise<Fleet> {
  const child = fork(join(import.meta.dirname, 'xds-changes-main.js'), [name, String(clusters)]);
  const closed = once(child, 'exit');
  const heard = async (): Promise<Said> => {
    const [said] = (await Promise.race([
      once(child, 'message'),
      closed.then(() => Promise.reject(new Error(`the control plane of ${name} has ended`))),
    ])) as [Said];
    return said;
  };
  const ask = (asked: Asked): void => void child.send(asked);
  const begun = await heard();
  if (!('port' in begun)) throw new Error('changes came before the server');
  let beganMs = 0;
  return {
    ...begun,
    begin: (perSecond, isOfAll) => {
      beganMs = performance.now();
      ask({ begin: { perSecond, isOfAll } });
    },
    end: async () => {
      ask('end');
      const said = await heard();
      const tookS = (performance.now() - beganMs) / 1000;
      return 'sent' in said ? said.sent / tookS : 0;
    },
    stop: async () => {
      child.disconnect();
      await closed;
    },
  };
}

interface Turns {
  readonly quiet: readonly Turn[];
  readonly busy: readonly Turn[];
  /** Changes that were sent a second, of each busy turn. */
  readonly rates: readonly number[];
}

async function takeTurns(fleet: Fleet, load: Load, where: Where): Promise<Turns> {
  const quiet: Turn[] = [];
  const busy: Turn[] = [];
  const rates: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    quiet.push(await takeTurn(fleet, load));
    fleet.begin(CHANGES_PER_SECOND, where === 'all clusters');
    busy.push(await takeTurn(fleet, load));
    rates.push(await fleet.end());
  }
  return { quiet, busy, rates };
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

function print(row: string, turns: Turns): void {
  const p99s = (list: readonly Turn[]): string =>
    list.map(({ p99Ms }) => p99Ms.toFixed(2)).join(' ');
  const [quiet, busy] = [turns.quiet, turns.busy].map((list) =>
    median(list.map(({ p99Ms }) => p99Ms)),
  );
  const ratio = (busy ?? 0) / (quiet ?? 1);
  const failed = [...turns.quiet, ...turns.busy].reduce((sum, turn) => sum + turn.failed, 0);
  const rate = median(turns.rates);
  const isReached = ratio <= WANTED_RATIO && failed === 0 && rate >= LEAST_CHANGES_PER_SECOND;
  const verdict = isReached ? 'reached' : 'MISSED ';
  console.log(
    `  ${verdict} ${row}: p99 ${p99s(turns.quiet)} ms in quiet, ${p99s(turns.busy)} ms during ` +
      `changes; medians ${ratio.toFixed(2)} times, ${failed} failed, ${rate.toFixed(0)} changes/s; ` +
      `CPU ms/s ${cpuOf(turns.quiet)}, ${cpuOf(turns.busy)}`,
  );
}

function cpuOf(turns: readonly Turn[]): string {
  const processes = turns[0]?.cpu ?? [];
  const medians = processes.map((_, at) => median(turns.map(({ cpu }) => cpu[at] ?? 0)));
  return medians.map((each) => each.toFixed(0)).join(' + ');
}
