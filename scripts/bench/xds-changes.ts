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
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { httpListener } from '../../test/support/bootstrap.ts';
import { typeUrlOf, type ControlPlane } from '../../test/support/control-plane.ts';
import { resource } from '../../test/support/discovery-files.ts';
import { waitUntil } from '../../test/support/wait.ts';
import { runOpenLoop } from './open-loop.ts';
import { cpuMs, treeOf } from './processes.ts';
import { startUpstream } from './upstream.ts';
import { runWrk } from './wrk.ts';
import {
  ENDPOINTS,
  LISTENER,
  listenerPort,
  programs,
  startFleet,
  type Fleet,
  type Program,
} from './xds-fleet.ts';

const CHANGES_PER_SECOND = 100;
const CONNECTIONS = 16;
const PORTS = [19_871, 19_872] as const;
const CLUSTER = 'service_7';
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
let versions = 0;
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
    const warm = keepChanging(fleet.control, WARM_UP_CHANGES_PER_SECOND, 'the cluster');
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

/** Requests of the one listener go to the cluster that changes; resolves with its port when they do. */
async function route({ control, admin }: Fleet): Promise<number> {
  sendEndpoints(control, 0);
  const toCluster = { match: { prefix: '/' }, route: { cluster: CLUSTER } };
  control.set(LISTENER, 'load', [resource.listener(httpListener([toCluster]))]);
  const port = await waitUntil('the listener', async () => await listenerPort(admin));
  await waitUntil('an answer', async () => await isAnswered(port));
  return port;
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
    const changes = keepChanging(fleet.control, CHANGES_PER_SECOND, where);
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

function median(list: readonly number[]): number {
  const sorted = list.toSorted((left, right) => left - right);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}

function keepChanging(
  control: ControlPlane,
  perSecond: number,
  where: Where,
): { stop(): Promise<void> } {
  let isStopped = false;
  const beganMs = performance.now();
  const done = (async (): Promise<void> => {
    for (let sent = 1; !isStopped; sent += 1) {
      // Each of them changes in its turn; the second time it has one host again.
      const round = Math.floor(sent / clusters);
      if (where === 'the cluster') sendEndpoints(control, sent);
      else sendEndpoints(control, round + 1, `service_${sent % clusters}`);
      await delay(Math.max(0, (sent * 1000) / perSecond - (performance.now() - beganMs)));
    }
  })();
  return {
    stop: async () => {
      isStopped = true;
      await done;
    },
  };
}

/** The answers come from two upstreams, of which the second comes and goes. */
function sendEndpoints(control: ControlPlane, change: number, cluster = CLUSTER): void {
  const ports = change % 2 === 0 ? [PORTS[0]] : PORTS;
  const assignment = resource.endpoints(cluster, ports);
  versions += 1;
  control.sendRaw({
    type_url: typeUrlOf(ENDPOINTS),
    resources: [{ name: cluster, version: `load ${versions}`, resource: assignment }],
  });
}

async function isAnswered(port: number): Promise<boolean> {
  try {
    return (await (await fetch(`http://127.0.0.1:${port}/`)).text()).includes('Hello');
  } catch {
    return false;
  }
}
