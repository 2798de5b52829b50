/**
 * Exceptions in the middle of the data path. Methods of filters, codecs, balancers, pools, logs and
 * timers throw at random while requests of all kinds are on their way, before or after they have
 * done their work. The worker takes each, its gauges return to zero, and the next request is
 * answered.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ServerResponse } from 'node:http';
import type { HttpFilter } from '../../shared/resources/filters/http-filters.ts';
import { LogFile } from '../../workers/access-log/loggers/lines/log-file.ts';
import { PassThroughFilter } from '../../workers/filters/pass-through-filter.ts';
import { HttpConnection } from '../../workers/manager/connection.ts';
import { HttpStream } from '../../workers/manager/stream.ts';
import { StreamTimers } from '../../workers/manager/stream-timers.ts';
import { HeaderMap } from '../../workers/stream/header-map.ts';
import { ChunkedDecoder } from '../../workers/http1/chunked-decoder.ts';
import { Http1ClientCodec } from '../../workers/http1/client-codec.ts';
import { Http1ServerCodec } from '../../workers/http1/server-codec.ts';
import { RequestBalance } from '../../workers/router/request-balance.ts';
import { Retrier } from '../../workers/router/retry/retrier.ts';
import { RouterFilter } from '../../workers/router/router-filter.ts';
import { UpstreamExchange } from '../../workers/router/exchange/upstream-exchange.ts';
import { UpstreamRequest } from '../../workers/router/attempt/upstream-request.ts';
import { PriorityBalancer } from '../../workers/upstream/balancing/priority-balancer.ts';
import { RoundRobinPicker } from '../../workers/upstream/balancing/round-robin-picker.ts';
import { ConnectionPool } from '../../workers/upstream/pools/connection-pool.ts';
import { Http1PoolConnection } from '../../workers/upstream/pools/http1-pool-connection.ts';
import { attackRandom, attackTurns } from '../support/attack.ts';
import { startDataPlane, type RunningDataPlane } from '../support/parts/data-plane.ts';
import { openRaw } from '../support/peers/raw-client.ts';
import { NO_RETRIES, prefix, route, toCluster } from '../support/parts/routes.ts';
import { startHttpUpstream } from '../support/peers/upstream.ts';
import { waitUntil } from '../support/wait.ts';

type Method = (...given: never[]) => unknown;

const GAUGES_LIMIT_MS = 5_000;

class Injected extends Error {}

/**
 * Classes of the data path with those of their methods that throw: other callers may be
 * made by others.
 */
const PLACES: readonly (readonly [
  type: { readonly prototype: object },
  methods: readonly string[],
])[] = [
  [PassThroughFilter, ['decodeData', 'decodeTrailers', 'encodeHeaders', 'encodeData', 'onDestroy']],
  [RouterFilter, ['decodeHeaders', 'decodeData', 'onHeaders', 'onData', 'onFailure', 'onDestroy']],
  [UpstreamExchange, ['chooseHost', 'start', 'onUpstreamConnected', 'onUpstreamHeaders']],
  [UpstreamExchange, ['onUpstreamData', 'onUpstreamReset', 'onPerTryTimeout', 'onTimer']],
  [UpstreamRequest, ['onPoolReady', 'decodeHeaders', 'decodeData', 'onWriteBlocked', 'onTimer']],
  [HttpStream, ['decodeHeaders', 'decodeData', 'encodeHeaders', 'encodeData', 'writeHeaders']],
  [HttpStream, ['writeData', 'onTimeout', 'sendLocalReply', 'pauseResponse', 'logMoment']],
  [HttpConnection, ['onData', 'newStream', 'beforeResponse', 'onTimer']],
  [StreamTimers, ['onTimer', 'onActivity', 'onRequestHeaders']],
  [Retrier, ['onTimer', 'afterHeaders', 'afterReset']],
  [Http1ServerCodec, ['onData', 'encodeHeaders', 'encodeData']],
  [Http1ClientCodec, ['onData', 'newStream', 'encodeHeaders', 'encodeData']],
  [ChunkedDecoder, ['onData', 'push', 'decode']],
  [PriorityBalancer, ['choose']],
  [RoundRobinPicker, ['pick', 'choose', 'next']],
  [ConnectionPool, ['newStream']],
  [Http1PoolConnection, ['onData', 'onConnect', 'onTimer']],
  [RequestBalance, ['computeHash', 'addCookies']],
  [LogFile, ['write']],
  [HeaderMap, ['get', 'set', 'forEach']],
];

/** Puts throwing methods into some of the places; returns what takes them out again. */
function inject(random: () => number, thrown: () => void): () => void {
  const share = 0.02 + random() * 0.2;
  const undo: (() => void)[] = [];
  for (const [{ prototype }, names] of PLACES) {
    if (random() < 0.5) continue;
    const methods = prototype as Record<string, Method | undefined>;
    for (const name of names) {
      const own = methods[name];
      if (own === undefined || random() < 0.4) continue;
      // What ends something has no way to do so twice: it throws when it has.
      const throwsAfter = name === 'onDestroy' || random() < 0.3;
      methods[name] = function (this: unknown, ...given: never[]) {
        const doesThrow = random() < share;
        if (doesThrow && !throwsAfter) {
          thrown();
          throw new Injected(`before ${name}`);
        }
        const result = own.apply(this, given);
        if (doesThrow) {
          thrown();
          throw new Injected(`after ${name}`);
        }
        return result;
      };
      undo.push(() => (methods[name] = own));
    }
  }
  return () => undo.forEach((act) => act());
}

const FILTERS: readonly HttpFilter[] = [
  {
    kind: 'set_metadata',
    name: 'meta',
    options: {
      untyped: [{ namespace: 'ns', allowOverwrite: true, value: { key: 'value' } }],
      typed: [],
    },
  },
  {
    kind: 'router',
    name: 'router',
    options: {
      suppressEnvoyHeaders: false,
      respectExpectedRqTimeout: false,
      upstreamLogs: [],
      dynamicStats: true,
      startChildSpan: false,
    },
  },
];

const POLICY = {
  ...NO_RETRIES,
  retryOn: ['5xx', 'reset'],
  numRetries: 2,
  perTryTimeoutMs: 40,
};

function answer(path: string, response: ServerResponse, random: () => number): void {
  if (path.startsWith('/slow')) return;
  if (random() < 0.2) response.statusCode = 503;
  if (random() < 0.1) return void response.socket?.destroy();
  if (random() < 0.3) response.write('a'.repeat(Math.floor(random() * 100_000)));
  response.end('hello');
}

const REQUESTS: readonly string[] = [
  'GET / HTTP/1.1\r\nHost: h\r\n\r\n',
  'GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nabcde',
  'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
  `POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 90000\r\n\r\n${'b'.repeat(90_000)}`,
  'GET /slow HTTP/1.1\r\nHost: h\r\n\r\n',
  'GET /none HTTP/1.1\r\nHost: h\r\n\r\n',
  'BROKEN\r\n\r\n',
];

/** Some requests on one connection; ends when the server closes it, or soon. */
async function visit(port: number, random: () => number): Promise<void> {
  const client = await openRaw(port);
  for (let count = 1 + Math.floor(random() * 3); count > 0; count--) {
    client.send(REQUESTS[Math.floor(random() * REQUESTS.length)] ?? '');
  }
  if (random() < 0.2) client.destroy();
  else client.end();
  await client.closed(10_000).catch((error: unknown) => {
    client.destroy();
    throw error;
  });
  client.destroy();
}

function activeGauges(plane: RunningDataPlane): readonly (readonly [string, number])[] {
  return [...plane.stats()].filter(
    ([name, value]) => value !== 0 && /(_active|_pending|_cx_\w*_buffered|_open)$/.test(name),
  );
}

describe('exceptions in the data path', () => {
  it('end what they belong to, and leave nothing behind', async () => {
    const random = attackRandom(5);
    await using upstream = await startHttpUpstream((request, response) =>
      answer(request.url ?? '', response, random),
    );
    for (const run of attackTurns(12, 1_500)) {
      let noted = 0;
      let thrown = 0;
      const foreign: unknown[] = [];
      const stacks: string[] = [];
      const note = (error: unknown): void => {
        noted++;
        stacks.push(String((error as Error).stack));
        // What follows from an injected exception is one in the same event.
        if (!(error instanceof Injected)) foreign.push(error);
      };
      await using plane = await startDataPlane({
        exceptions: { note },
        upstreamPorts: [upstream.port],
        upstreamHttp: { idleTimeoutMs: 50 },
        manager: {
          filters: FILTERS,
          streamIdleTimeoutMs: 300,
          streamFlushTimeoutMs: 300,
          accessLogs: [
            {
              kind: 'lines',
              sink: { kind: 'file', path: '/dev/null' },
              format: { kind: 'text', format: '%REQ(a)% %DURATION%\n', omitEmptyValues: false },
            },
          ],
        },
        routes: [
          route(prefix('/none'), toCluster({ cluster: { kind: 'cluster', name: 'none' } })),
          route(prefix('/'), toCluster({ retryPolicy: POLICY, timeoutMs: 150 })),
        ],
      });
      const undo = inject(random, () => thrown++);
      try {
        const visits = Array.from({ length: 12 }, () => visit(plane.port, random));
        await Promise.all(visits);
      } finally {
        undo();
      }
      await waitUntil(
        `the gauges of run ${run} to return to zero`,
        () => {
          const left = activeGauges(plane);
          return left.length === 0 ? true : undefined;
        },
        GAUGES_LIMIT_MS,
      ).catch((error: unknown) => {
        throw new Error(`run ${run}: ${JSON.stringify(activeGauges(plane))} ${stacks.join('\n')}`, {
          cause: error,
        });
      });
      assert.ok(noted >= Math.min(thrown, 1), `${thrown} thrown, ${noted} noted`);
      assert.deepEqual(foreign, [], `run ${run}`);
      const client = await openRaw(plane.port);
      client.send('GET /none HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n');
      assert.match(await client.closed(), /^HTTP\/1\.1 503 /);
    }
  });
});
