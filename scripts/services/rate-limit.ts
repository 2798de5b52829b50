/** The rate limit service that people deploy with Envoy, with a Redis behind it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import {
  filterListener,
  networkFilter,
  tcpProxyFilter,
} from '../../test/support/parts/tcp-listener.ts';
import { openRaw } from '../../test/support/peers/raw-client.ts';
import { grpcCluster } from '../../test/support/peers/services/asked-services.ts';
import { makeScratch } from '../../test/support/scratch.ts';
import { waitUntil } from '../../test/support/wait.ts';
import { built, type GoProgram } from '../programs/go-programs.ts';
import { check, passed, type Trial, trialOfAll, type TrialOutcome } from '../programs/trial.ts';
import { type Between, grpcService, httpFilter, startAsking } from './between.ts';
import { type RealService, startService } from './real-service.ts';

export const RATE_LIMIT: GoProgram = {
  module: 'github.com/envoyproxy/ratelimit/src/service_cmd',
  version: 'v1.4.1-0.20260122083618-3fb702589d36',
  folder: 'ratelimit',
};
const GREEDY_LIMIT = 5;
const DAY = 'day';
const LIMITS = `
domain: shop
descriptors:
  - key: who
    value: greedy
    rate_limit: {unit: ${DAY}, requests_per_unit: ${GREEDY_LIMIT}}
  - key: who
    value: watched
    shadow_mode: true
    rate_limit: {unit: ${DAY}, requests_per_unit: 1}
  - key: connections
    value: tcp
    rate_limit: {unit: ${DAY}, requests_per_unit: 2}
`;
const ASKED_AT_ONCE = 50;

export const rateLimitTrials: readonly Trial[] = [
  trialOfAll(['go', 'redis-server'], 'the rate limit service with Redis', limitsHold),
];

async function limitsHold(): Promise<TrialOutcome> {
  const program = await built(RATE_LIMIT);
  using scratch = makeScratch();
  mkdirSync(scratch.file('config'));
  writeFileSync(join(scratch.file('config'), 'shop.yaml'), LIMITS);
  const [redisPort, grpcPort] = [await freePort(), await freePort()];
  await using redis = await startRedis(redisPort);
  const settings = await settingsOf(scratch.path, redisPort, grpcPort);
  const ports = [grpcPort];
  await using service = await startService({ command: program, env: settings, ports });
  await using between = await startAsking({
    filters: [
      httpFilter('ratelimit', 'RateLimit', {
        domain: 'shop',
        timeout: '2s',
        enable_x_ratelimit_headers: 'DRAFT_VERSION_03',
        rate_limit_service: grpcService('limits'),
      }),
    ],
    route: {
      rate_limits: [
        { actions: [{ request_headers: { header_name: 'x-who', descriptor_key: 'who' } }] },
      ],
    },
    clusters: [grpcCluster('limits', grpcPort)],
    listeners: [filterListener([networkLimit(), tcpProxyFilter()])],
  });
  const headers = await limitOf(between);
  await atOnce(between);
  check(
    (await asks(between, 'watched', 3)).every((status) => status === 200),
    'shadow mode',
  );
  const connections = await connectionsPass(between);
  await withoutRedis(between, redis, service);
  return passed(`${headers}; ${connections}; open without Redis`);
}

function networkLimit(): object {
  return networkFilter('ratelimit', 'ratelimit.v3.RateLimit', {
    stat_prefix: 'tcp',
    domain: 'shop',
    descriptors: [{ entries: [{ key: 'connections', value: 'tcp' }] }],
    rate_limit_service: grpcService('limits'),
  });
}

export async function startRedis(port: number): Promise<RealService> {
  const args = ['--port', String(port), '--save', '', '--bind', '127.0.0.1'];
  return startService({ command: 'redis-server', args, ports: [port] });
}

/** Environment variables of the service: its ports, and the Redis behind it. */
export async function settingsOf(
  folder: string,
  redisPort: number,
  grpcPort: number,
): Promise<Readonly<Record<string, string>>> {
  const [port, debugPort] = [await freePort(), await freePort()];
  return {
    RUNTIME_ROOT: folder,
    RUNTIME_WATCH_ROOT: 'false',
    REDIS_SOCKET_TYPE: 'tcp',
    REDIS_URL: `127.0.0.1:${redisPort}`,
    USE_STATSD: 'false',
    HOST: '127.0.0.1',
    PORT: String(port),
    DEBUG_HOST: '127.0.0.1',
    DEBUG_PORT: String(debugPort),
    GRPC_HOST: '127.0.0.1',
    GRPC_PORT: String(grpcPort),
  };
}

async function asks(between: Between, who: string, times: number): Promise<readonly number[]> {
  const asked = Array.from({ length: times }, () => between.ask({ headers: { 'x-who': who } }));
  return (await Promise.all(asked)).map(({ status }) => status);
}

/** The first request of a limit is told the limit and what is left of it. */
async function limitOf(between: Between): Promise<string> {
  const { status, headers } = await between.ask({ headers: { 'x-who': 'greedy' } });
  const limit = `x-ratelimit-limit: ${String(headers['x-ratelimit-limit'])}`;
  check(status === 200 && limit.includes(`${GREEDY_LIMIT}, ${GREEDY_LIMIT};w=86400`), limit);
  check(headers['x-ratelimit-remaining'] === String(GREEDY_LIMIT - 1), 'what is left of the limit');
  return limit;
}

/** As many of those asked at once pass as the limit permits, not one more. */
async function atOnce(between: Between): Promise<void> {
  const statuses = await asks(between, 'greedy', ASKED_AT_ONCE);
  const passing = statuses.filter((status) => status === 200).length;
  check(passing === GREEDY_LIMIT - 1, `${passing} requests passed`);
  const limited = statuses.filter((status) => status === 429).length;
  check(limited === ASKED_AT_ONCE - passing, `${limited} requests were limited`);
  const counted = await between.sluice.stat('cluster.up.ratelimit.over_limit');
  check(counted === limited, `${counted} were counted`);
}

async function connectionsPass(between: Between): Promise<string> {
  const port = await between.sluice.listenerPort('tcp');
  const answers: boolean[] = [];
  for (let count = 0; count < 4; count++) {
    const connection = await openRaw(port);
    connection.send('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    answers.push((await connection.closed()).startsWith('HTTP/1.1 200'));
  }
  check(answers.join() === 'true,true,false,false', `connections: ${answers.join()}`);
  return '2 of 4 connections pass';
}

/** A service that cannot decide lets requests pass, as `failure_mode_deny: false` says. */
async function withoutRedis(
  between: Between,
  redis: RealService,
  service: RealService,
): Promise<void> {
  await redis.kill();
  await waitUntil('requests to pass', async () => {
    const [status] = await asks(between, 'greedy', 1);
    return status === 200;
  });
  check((await between.sluice.stat('cluster.up.ratelimit.error')) > 0, service.output());
  await service.kill();
  const [status] = await asks(between, 'greedy', 1);
  check(status === 200, `without the service: ${String(status)}`);
}
