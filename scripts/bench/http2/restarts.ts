/**
 * Hot restarts under HTTP/2: `node dist/scripts/bench/http2/restarts.js`. 100 connections ask on
 * while each has a long answer on its way, and leave at GOAWAY; beside them, in each epoch, server
 * streams of gRPC that never end. Prints requests, long answers, GOAWAYs, all failures, and for how
 * long the endless streams went on after GOAWAY; fails where a request was lost. First Sluice, then
 * Envoy. Options: `--only NAME`, `--requests N` (100000), `--connections N` (100). A few minutes.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { connect, type ClientHttp2Session } from 'node:http2';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { bootstrap, httpListener, staticCluster } from '../../../test/support/parts/bootstrap.ts';
import { loopback } from '../../../test/support/programs/epochs.ts';
import {
  LONG,
  startHttp2Load,
  startLongUpstream,
} from '../../../test/support/programs/http2-load.ts';
import { http2 } from '../../../test/support/programs/http2-upstreams.ts';
import { makeScratch } from '../../../test/support/scratch.ts';
import { EpochRow } from '../support/epoch-row.ts';
import { isInstalled } from '../support/processes.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    requests: { type: 'string', default: '100000' },
    connections: { type: 'string', default: '100' },
  },
});
const wanted = Number(values.requests);
const connections = Number(values.connections);
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
/** Gives up where nothing goes on. */
const MAX_EPOCHS = 200;

const contenders: readonly (readonly [string, readonly string[]])[] = [
  ['sluice', [process.execPath, `${import.meta.dirname}/../../../src/main.js`]],
  ['envoy', ['envoy']],
];
for (const [name, command] of contenders) {
  if (values.only !== undefined && values.only !== name) continue;
  if (name === 'envoy' && !isInstalled('envoy')) console.log('left out: envoy (not on PATH)');
  else if ((await measure(name, command)) > 0 && name === 'sluice') process.exitCode = 1;
}

/** Returns how many requests were lost. */
async function measure(name: string, command: readonly string[]): Promise<number> {
  using scratch = makeScratch();
  await using upstream = await startLongUpstream(LONG_PIECES);
  await using endless = await startLongUpstream(ENDLESS_PIECES);
  const config = scratch.file('bootstrap.json');
  writeFileSync(config, JSON.stringify(proxying(upstream.port, endless.port)));
  const row = new EpochRow({ command, config, adminPort: ADMIN_PORT, words: WORDS });
  try {
    await row.start(0);
    const load = startHttp2Load(PORT, { connections, restMs: REST_MS, long: upstream.long });
    const lasted: number[] = [];
    let epoch = 0;
    while (load.finished() < wanted && epoch < MAX_EPOCHS) {
      const streams = Array.from({ length: ENDLESS_STREAMS }, timeAfterGoaway);
      epoch += 1;
      await row.start(epoch);
      await row.exitOf(epoch - 1);
      lasted.push(...(await Promise.all(streams)));
    }
    const { finished, long, goaways, failures } = await load.stop();
    console.log(
      `${name}: ${epoch} restarts under ${connections} connections, ${finished} requests and ` +
        `${long} long answers, ${goaways} GOAWAYs, ${failures.length} lost; ${lasted.length} endless ` +
        `streams went on for ${range(lasted)} s after GOAWAY (the parent has ${PARENT_SHUTDOWN_SECONDS} s)`,
    );
    for (const text of new Set(failures)) console.log(`  ${text}`);
    return failures.length;
  } finally {
    row.close();
    rmSync(`/dev/shm/envoy_shared_memory_${process.pid * 10}`, { force: true });
  }
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

/** Seconds for which a stream brought messages after GOAWAY. */
async function timeAfterGoaway(): Promise<number> {
  const session = connect(`http://127.0.0.1:${PORT}`);
  session.on('error', () => undefined);
  let goawayAt = 0;
  let lastAt = 0;
  session.once('goaway', () => (goawayAt = lastAt = performance.now()));
  const grpc = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' };
  const stream = session.request({ ':path': LONG, ':authority': 'endless', ...grpc });
  stream.on('error', () => undefined);
  stream.on('data', () => (lastAt = performance.now()));
  const closed = new Promise((resolve) => stream.once('close', resolve));
  // A drain is told with an answer.
  while (goawayAt === 0 && !stream.closed) {
    await askShortly(session);
    await delay(ASK_MS);
  }
  await closed;
  session.destroy();
  return goawayAt === 0 ? 0 : (lastAt - goawayAt) / 1000;
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
