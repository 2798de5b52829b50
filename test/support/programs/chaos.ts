/**
 * Hosts that fail at random behind a running server: which, when and how follows from a seed. Says
 * what clients saw, and whether the server knew the truth in the end.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { bootstrap, httpListener, staticCluster } from '../parts/bootstrap.ts';
import { fetchOnce } from '../peers/http-client.ts';
import { treeDescriptors, treePssKib } from '../../../scripts/bench/support/processes.ts';
import { childrenOf } from './processes.ts';
import { startSluice, type Sluice } from './sluice.ts';
import { waitUntil } from '../wait.ts';

const MODES = ['well', 'refuse', 'reset', 'hang', 'broken', 'flap'] as const;
type Mode = (typeof MODES)[number];

export const CHAOS = {
  hosts: 20,
  clients: 8,
  timeoutMs: 1_000,
  checkIntervalMs: 250,
  checkTimeoutMs: 150,
  maxRequests: 100,
  maxConnections: 300,
} as const;

/** How long a machine that has other things to do may keep a finished request waiting. */
const SLACK_MS = 10_000;
/** How long the truth may take to be known on such a machine. */
const LEARN_LIMIT_MS = 15_000;
const STEP_MS = 120;
/** On such a machine clients go on behind the last change. */
const REQUESTS_MIN = 51;
/** Descriptors of the admin's own connections and of what is about to close. */
const SPARE_DESCRIPTORS = 8;
const CHECK_WATCH_MS = 1_000;

export interface ChaosResult {
  readonly requests: number;
  readonly good: number;
  /** Clients whose worker was killed under them. */
  readonly cut: number;
  /** Requests that took longer than their timeout. */
  readonly late: readonly number[];
  /** From the last change until `/clusters` said what was true; undefined: never. */
  readonly learntMs: number | undefined;
  /** Gauges that ought to be zero, or a limit that is not whole again. */
  readonly left: readonly string[];
  /** What the processes hold though nothing needs it any more. */
  readonly leaks: readonly string[];
  /** What the processes' memory grew by in the second half, in KiB. */
  readonly grewKib: number;
}

class FailingHost {
  mode: Mode = 'well';
  readonly #server: Server;
  #port = 0;
  #isListening = false;

  constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  get port(): number {
    return this.#port;
  }

  /** What a check has to find. */
  get isWell(): boolean {
    return this.mode === 'well';
  }

  async become(mode: Mode): Promise<void> {
    this.mode = mode;
    if (mode === 'refuse') this.close();
    else await this.listen();
  }

  async listen(): Promise<void> {
    if (this.#isListening) return;
    this.#isListening = true;
    this.#server.listen(this.#port, '127.0.0.1');
    try {
      await once(this.#server, 'listening');
    } catch {
      // Another program has got the port meanwhile: this host refuses from now on, as far as it
      // can.
      this.#isListening = false;
      this.mode = 'refuse';
      return;
    }
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    if (!this.#isListening) return;
    this.#isListening = false;
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    if (this.mode === 'reset') request.socket.destroy();
    else if (this.mode === 'hang') request.resume();
    else {
      response.statusCode = this.mode === 'broken' ? 500 : 200;
      response.end(this.mode);
    }
  }
}

export async function runChaos(durationMs: number, seed: number): Promise<ChaosResult> {
  const hosts = Array.from({ length: CHAOS.hosts }, () => new FailingHost());
  await Promise.all(hosts.map(async (host) => host.listen()));
  const sluice = await startSluice({ concurrency: 2, bootstrap: makeBootstrap(hosts) });
  try {
    return await torture(sluice, hosts, { durationMs, random: randomFrom(seed) });
  } finally {
    for (const host of hosts) host.close();
    await sluice.stop();
  }
}

async function torture(
  sluice: Sluice,
  hosts: readonly FailingHost[],
  { durationMs, random }: { readonly durationMs: number; readonly random: () => number },
): Promise<ChaosResult> {
  const port = await sluice.listenerPort('web');
  const atRest = treeDescriptors(sluice.pid);
  const seen = { requests: 0, good: 0, cut: 0, late: [] as number[] };
  const endMs = performance.now() + durationMs;
  const client = async (): Promise<void> => {
    while (performance.now() < endMs || seen.requests < REQUESTS_MIN) {
      const beganMs = performance.now();
      const answer = await fetchOnce({ port, path: '/' }).catch(() => undefined);
      const tookMs = performance.now() - beganMs;
      seen.requests += 1;
      if (answer === undefined) seen.cut += 1;
      else if (answer.status === 200) seen.good += 1;
      if (tookMs > CHAOS.timeoutMs + SLACK_MS) seen.late.push(Math.round(tookMs));
      await delay(5);
    }
  };
  const clients = Promise.all(Array.from({ length: CHAOS.clients }, client));
  const kills = [durationMs / 3, (2 * durationMs) / 3].map((atMs) => endMs - durationMs + atMs);
  let halfKib: number | undefined;
  while (performance.now() < endMs) {
    if (endMs - performance.now() < durationMs / 2) halfKib ??= treePssKib(sluice.pid);
    await changeOne(hosts, random);
    if (kills[0] !== undefined && performance.now() >= kills[0]) {
      kills.shift();
      const worker = childrenOf(sluice.pid)[Math.floor(random() * 2)];
      if (worker !== undefined) process.kill(worker, 'SIGKILL');
    }
    await delay(STEP_MS);
  }
  // A host that flaps has no truth to be known.
  for (const host of hosts) if (host.mode === 'flap') await host.become('well');
  const changedMs = performance.now();
  const learnt = await waitUntil(
    '/clusters to say what is true',
    async () => await knowsTruth(sluice, hosts),
    LEARN_LIMIT_MS,
  ).catch(() => undefined);
  const learntMs = learnt === undefined ? undefined : performance.now() - changedMs;
  await clients;
  const grewKib = treePssKib(sluice.pid) - (halfKib ?? 0);
  const left = await leftOver(sluice);
  return { ...seen, learntMs, left, leaks: await leaksOf(sluice, atRest), grewKib };
}

/** Descriptors beyond those of before and of open connections; checks that are made twice. */
async function leaksOf(sluice: Sluice, atRest: number): Promise<readonly string[]> {
  const leaks: string[] = [];
  const open = await sluice.stat('cluster.up.upstream_cx_active');
  const held = treeDescriptors(sluice.pid) - atRest;
  // A check may keep a connection of its own to each host.
  if (held > open + CHAOS.hosts + SPARE_DESCRIPTORS) {
    leaks.push(`${held} descriptors more than at rest, ${open} connections are open`);
  }
  const attempts = 'cluster.up.health_check.attempt';
  const before = await sluice.stat(attempts);
  const beganMs = performance.now();
  await delay(CHECK_WATCH_MS);
  const made = (await sluice.stat(attempts)) - before;
  const due = (CHAOS.hosts * (performance.now() - beganMs)) / CHAOS.checkIntervalMs;
  if (made > 1.3 * due + CHAOS.hosts) leaks.push(`${made} checks where ${Math.round(due)} are due`);
  return leaks;
}

async function changeOne(hosts: readonly FailingHost[], random: () => number): Promise<void> {
  for (const host of hosts) {
    if (host.mode === 'flap' && random() < 0.5) {
      host.close();
      await host.listen();
    }
  }
  const host = hosts[Math.floor(random() * hosts.length)];
  const isHealing = random() < 0.4;
  const mode = isHealing ? 'well' : MODES[Math.floor(random() * MODES.length)];
  await host?.become(mode ?? 'well');
}

async function knowsTruth(sluice: Sluice, hosts: readonly FailingHost[]): Promise<boolean> {
  const { body } = await sluice.admin('/clusters');
  return hosts.every(({ port, isWell }) => {
    const flags = new RegExp(`^up::127\\.0\\.0\\.1:${port}::health_flags::(.*)$`, 'm').exec(body);
    return flags !== null && flags[1]?.includes('failed_active_hc') === !isWell;
  });
}

async function leftOver(sluice: Sluice): Promise<readonly string[]> {
  const breakers = 'cluster.up.circuit_breakers.default';
  const wanted: Readonly<Record<string, number>> = {
    'cluster.up.upstream_rq_active': 0,
    'cluster.up.upstream_rq_pending_active': 0,
    'http.web.downstream_rq_active': 0,
    [`${breakers}.remaining_rq`]: CHAOS.maxRequests,
    [`${breakers}.rq_open`]: 0,
    [`${breakers}.cx_open`]: 0,
  };
  const left: string[] = [];
  for (const [name, value] of Object.entries(wanted)) {
    const held = await sluice
      .waitForStat(name, (found) => found === value, 15_000)
      .catch(() => undefined);
    if (held === undefined) left.push(`${name}: ${await sluice.stat(name)}`);
  }
  const open = await sluice.stat('cluster.up.upstream_cx_active');
  const room = await sluice.stat(`${breakers}.remaining_cx`);
  if (open + room !== CHAOS.maxConnections)
    left.push(`connections: ${open} open, room for ${room}`);
  return left;
}

function makeBootstrap(hosts: readonly FailingHost[]): object {
  const thresholds = [
    {
      max_requests: CHAOS.maxRequests,
      max_connections: CHAOS.maxConnections,
      max_retries: 50,
      track_remaining: true,
    },
  ];
  const retry_policy = {
    retry_on: '5xx,connect-failure,reset',
    num_retries: 2,
    retry_back_off: { base_interval: '0.005s' },
  };
  const timeout = `${CHAOS.timeoutMs / 1000}s`;
  return bootstrap({
    listeners: [
      httpListener([{ match: { prefix: '/' }, route: { cluster: 'up', timeout, retry_policy } }]),
    ],
    clusters: [
      staticCluster(
        'up',
        hosts.map(({ port }) => port),
        {
          circuit_breakers: { thresholds },
          outlier_detection: { consecutive_5xx: 5, interval: '0.5s', base_ejection_time: '0.5s' },
          health_checks: [
            {
              timeout: `${CHAOS.checkTimeoutMs / 1000}s`,
              interval: `${CHAOS.checkIntervalMs / 1000}s`,
              no_traffic_interval: `${CHAOS.checkIntervalMs / 1000}s`,
              unhealthy_threshold: 1,
              healthy_threshold: 1,
              http_health_check: { path: '/hc' },
            },
          ],
        },
      ),
    ],
  });
}

/** Numbers from 0, below 1, the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
