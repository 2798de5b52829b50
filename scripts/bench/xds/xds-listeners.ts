/**
 * Listeners that change a thousand times: descriptors and memory of every process before and after,
 * and how far apart the workers take a change. Prints figures and asserts nothing: node
 * dist/scripts/bench/xds/xds-listeners.js [updates]
 */
import { readFileSync, readdirSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { adsBootstrap } from '../../../test/support/peers/ads-bootstrap.ts';
import { httpListener } from '../../../test/support/parts/bootstrap.ts';
import { startControlPlane, type ControlPlane } from '../../../test/support/peers/control-plane.ts';
import { resource } from '../../../test/support/peers/discovery-files.ts';
import { freePort } from '../../../test/support/programs/epochs.ts';
import { fetchOnce } from '../../../test/support/peers/http-client.ts';
import { childrenOf } from '../../../test/support/programs/processes.ts';
import { startSluice, type Sluice } from '../../../test/support/programs/sluice.ts';
import { waitUntil } from '../../../test/support/wait.ts';

const UPDATES = Number(process.argv[2] ?? 1000);
/** Listeners beside the one that is watched, each changed or replaced by each update. */
const OTHERS = 3;
const LANES = 8;

interface Held {
  readonly pid: number;
  readonly descriptors: number;
  readonly kilobytes: number;
}

await run();

async function run(): Promise<void> {
  await using control = await startControlPlane();
  const port = await freePort();
  send(control, port, 0);
  await using sluice = await startSluice({
    bootstrap: adsBootstrap(control.port, { apiType: 'GRPC' }),
    concurrency: 2,
    args: ['--drain-time-s', '1'],
  });
  // What is made once is there before the first count.
  const warm = Math.min(100, UPDATES);
  for (let version = 1; version <= warm; version += 1) await change(control, port, version);
  await drained(sluice);
  const before = held(sluice.pid);
  const gaps: number[] = [];
  for (let version = warm + 1; version <= warm + UPDATES; version += 1) {
    gaps.push(await change(control, port, version));
  }
  await drained(sluice);
  const after = held(sluice.pid);
  for (const [index, { pid, descriptors, kilobytes }] of before.entries()) {
    const now = after[index];
    console.log(
      `process ${pid}: ${descriptors} descriptors before, ${now?.descriptors} after; ` +
        `${kilobytes} kB resident before, ${now?.kilobytes} after`,
    );
  }
  gaps.sort((left, right) => left - right);
  const at = (share: number): string => (gaps[Math.floor(gaps.length * share)] ?? 0).toFixed(1);
  console.log(
    `${UPDATES} updates of ${OTHERS + 1} listeners; from the first new answer to the last old one: ` +
      `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, at most ${gaps.at(-1)?.toFixed(1)} ms`,
  );
}

/** Another version everywhere; resolves with how long old and new answers came side by side. */
async function change(control: ControlPlane, port: number, version: number): Promise<number> {
  send(control, port, version);
  const wanted = String(version);
  let firstNew = Number.POSITIVE_INFINITY;
  let lastOld = 0;
  const lane = async (): Promise<void> => {
    for (let seen = 0; seen < 3;) {
      const sent = performance.now();
      const { body } = await fetchOnce({ port, path: '/' });
      if (body === wanted) {
        firstNew = Math.min(firstNew, performance.now());
        seen += 1;
      } else {
        lastOld = Math.max(lastOld, sent);
        seen = 0;
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return Math.max(0, lastOld - firstNew);
}

function send(control: ControlPlane, port: number, version: number): void {
  const listener = (name: string, at: number): object => {
    const action = { direct_response: { status: 200, body: { inline_string: String(version) } } };
    const address = { socket_address: { address: '127.0.0.1', port_value: at } };
    const routes = [{ match: { prefix: '/' }, ...action }];
    // Every second version changes more than chains, and drains the listener as a whole.
    const whole = { address, per_connection_buffer_limit_bytes: 100_000 + (version % 2) };
    return resource.listener(httpListener(routes, { name, listener: whole }));
  };
  const others = Array.from({ length: OTHERS }, (_, index) =>
    listener(`other-${index}-${version % 7}`, 0),
  );
  control.set('listener.v3.Listener', String(version), [listener('web', port), ...others]);
}

async function drained(sluice: Sluice): Promise<void> {
  await waitUntil(
    'no draining listener',
    async () => (await sluice.stat('listener_manager.total_listeners_draining')) === 0,
  );
}

function held(supervisor: number): readonly Held[] {
  return [supervisor, ...childrenOf(supervisor)].map((pid) => ({
    pid,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    kilobytes: Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]),
  }));
}
