/**
 * Hot restarts and drains under HTTP/2: connections ask on while each has a long answer on its way,
 * and leave at GOAWAY; beside them, in each epoch, server streams of gRPC that never end. Each epoch
 * is drained by its admin interface first (`/healthcheck/fail` and back, then
 * `/drain_listeners?graceful&skip_exit`), the last one by `/drain_listeners?graceful`.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { connect, type ClientHttp2Session } from 'node:http2';
import { setTimeout as delay } from 'node:timers/promises';
import { bootstrap, httpListener, staticCluster } from '../../../test/support/parts/bootstrap.ts';
import { fetchOnce } from '../../../test/support/peers/http-client.ts';
import { loopback } from '../../../test/support/programs/epochs.ts';
import {
  LONG,
  startHttp2Load,
  startLongUpstream,
  type Http2Load,
} from '../../../test/support/programs/http2-load.ts';
import { http2 } from '../../../test/support/programs/http2-upstreams.ts';
import { makeScratch } from '../../../test/support/scratch.ts';
import { waitUntil } from '../../../test/support/wait.ts';
import { EpochRow } from '../../bench/support/epoch-row.ts';
import { check, passed, type Trial } from '../trial.ts';

export interface RestartsOptions {
  readonly command: readonly string[];
  readonly requests: number;
  readonly connections: number;
}

export interface RestartsReport {
  readonly text: string;
  /** What was lost, one text each. */
  readonly lost: readonly string[];
  /** Endless streams that ended otherwise than with their connection. */
  readonly oddEnds: readonly string[];
}

interface EndlessEnd {
  /** Seconds for which messages came after GOAWAY. */
  readonly lasted: number;
  /** `connection` where that closed under it, else the code of its reset. */
  readonly end: string;
}

const [PORT, ADMIN_PORT] = [18_310, 18_311];
const PARENT_SHUTDOWN_SECONDS = 5;
const WORDS = [
  ['--drain-time-s', '1'],
  ['--drain-strategy', 'immediate'],
  ['--parent-shutdown-time-s', String(PARENT_SHUTDOWN_SECONDS)],
].flat();
/** Each takes 50 ms: a long answer ends within the time that the parent has. */
const LONG_PIECES = 40;
/** Each takes 50 ms as well: 14 hours in all. */
const ENDLESS_PIECES = 1e6;
const ENDLESS_STREAMS = 5;
const REST_MS = 10;
const ASK_MS = 50;
const LEAST_RESTARTS = 3;
/** Gives up where nothing goes on. */
const MAX_EPOCHS = 200;
const WAIT_MS = 60_000;
const SLUICE = [process.execPath, `${import.meta.dirname}/../../../src/main.js`];
const FULL = { requests: 100_000, connections: 100 };

export const restarts: readonly Trial[] = [
  {
    name: 'hot restarts and drains under HTTP/2: 100 connections, 100,000 requests',
    run: async () => {
      const { text, lost, oddEnds } = await restartUnderLoad({ command: SLUICE, ...FULL });
      check(lost.length === 0, `${text}: ${[...new Set(lost)].join('; ')}`);
      check(oddEnds.length === 0, `endless streams ended by ${oddEnds.join(', ')}`);
      return passed(text);
    },
  },
];

export async function restartUnderLoad(options: RestartsOptions): Promise<RestartsReport> {
  const { command, connections } = options;
  using scratch = makeScratch();
  await using upstream = await startLongUpstream(LONG_PIECES);
  await using endless = await startLongUpstream(ENDLESS_PIECES);
  const config = scratch.file('bootstrap.json');
  writeFileSync(config, JSON.stringify(proxying(upstream.port, endless.port)));
  const row = new EpochRow({ command, config, adminPort: ADMIN_PORT, words: WORDS });
  try {
    await row.start(0);
    const load = startHttp2Load(PORT, { connections, restMs: REST_MS, long: upstream.long });
    const ends: EndlessEnd[] = [];
    let epoch = 0;
    while ((load.finished() < options.requests || epoch < LEAST_RESTARTS) && epoch < MAX_EPOCHS) {
      epoch += 1;
      ends.push(...(await replace(row, load, epoch, connections)));
    }
    await row.post('/drain_listeners?graceful');
    const { finished, long, goaways, failures } = await load.stop();
    await waitUntil('closed listeners', isRefused, WAIT_MS);
    const odd = ends.map(({ end }) => end).filter((end) => end !== 'connection');
    const text =
      `${epoch} restarts, ${2 * epoch + 1} drains by admin, ${finished} requests and ${long} long ` +
      `answers, ${goaways} GOAWAYs, ${failures.length} lost; ${ends.length} endless streams went on ` +
      `for ${range(ends.map(({ lasted }) => lasted))} s after GOAWAY (the parent has ` +
      `${PARENT_SHUTDOWN_SECONDS} s), ${ends.length - odd.length} ended with their connection`;
    return { text, lost: failures, oddEnds: odd };
  } finally {
    row.close();
    rmSync(`/dev/shm/envoy_shared_memory_${process.pid * 10}`, { force: true });
  }
}

/** Drains the epoch before this one in two ways, and lets this one take its place. */
async function replace(
  row: EpochRow,
  load: Http2Load,
  epoch: number,
  connections: number,
): Promise<readonly EndlessEnd[]> {
  const before = load.finished();
  await waitUntil('requests', () => load.finished() > before + connections, WAIT_MS);
  const goaways = load.goaways();
  await row.post('/healthcheck/fail');
  await waitUntil('GOAWAYs', () => load.goaways() >= goaways + connections, WAIT_MS);
  await row.post('/healthcheck/ok');
  const after = load.finished();
  await waitUntil('requests', () => load.finished() > after + connections * 50, WAIT_MS);
  const streams = Array.from({ length: ENDLESS_STREAMS }, endOfEndless);
  await row.post('/drain_listeners?graceful&skip_exit');
  await row.start(epoch);
  await row.exitOf(epoch - 1);
  return Promise.all(streams);
}

function isRefused(): Promise<boolean> {
  return fetchOnce({ port: PORT }).then(
    () => false,
    () => true,
  );
}

function proxying(port: number, endlessPort: number): object {
  const isEndless = { name: ':authority', string_match: { exact: 'endless' } };
  const routes = [
    {
      match: { prefix: '/', headers: [isEndless] },
      route: { cluster: 'endless', timeout: '0s' },
    },
    { match: { prefix: '/' }, route: { cluster: 'up', timeout: '0s' } },
  ];
  const hosts = { connect_timeout: '10s', ...http2() };
  return bootstrap(
    {
      listeners: [
        httpListener(routes, {
          hcm: { drain_timeout: '0.2s' },
          listener: { address: loopback(PORT) },
        }),
      ],
      clusters: [
        staticCluster('up', [port], hosts),
        staticCluster('endless', [endlessPort], hosts),
      ],
    },
    { admin: { address: loopback(ADMIN_PORT) } },
  );
}

/** One stream that brings messages for as long as it may. */
async function endOfEndless(): Promise<EndlessEnd> {
  const session = connect(`http://127.0.0.1:${PORT}`);
  session.on('error', () => undefined);
  let goawayAt = 0;
  let lastAt = 0;
  session.once('goaway', () => (goawayAt = lastAt = performance.now()));
  const grpc = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' };
  const stream = session.request({ ':path': LONG, ':authority': 'endless', ...grpc });
  stream.on('error', () => undefined);
  stream.on('data', () => (lastAt = performance.now()));
  const closed = new Promise<string>((resolve) => {
    // A session whose socket ended is destroyed before its streams close.
    stream.once('close', () => {
      resolve(session.destroyed ? 'connection' : `reset ${stream.rstCode}`);
    });
  });
  // A drain is told with an answer.
  while (goawayAt === 0 && !stream.closed) {
    await askShortly(session);
    await delay(ASK_MS);
  }
  const end = await closed;
  session.destroy();
  return { lasted: goawayAt === 0 ? 0 : (lastAt - goawayAt) / 1000, end };
}

function askShortly(session: ClientHttp2Session): Promise<void> {
  if (session.closed || session.destroyed) return Promise.resolve();
  const stream = session.request({ ':path': '/' });
  stream.on('error', () => undefined);
  stream.resume();
  return new Promise((resolve) => stream.once('close', () => resolve()));
}

function range(list: readonly number[]): string {
  return `${Math.min(...list).toFixed(1)} to ${Math.max(...list).toFixed(1)}`;
}
