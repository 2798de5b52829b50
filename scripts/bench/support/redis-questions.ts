/** The questions of `npm run bench` about Redis, asked of Sluice and Envoy alone. */
import { spawn } from 'node:child_process';
import { REDIS_PORT_OFFSET } from './bootstrap.ts';
import { isInstalled, LOAD_CORE, runPinned, waitForPort } from './processes.ts';
import { measured, type Question } from './questions.ts';
import type { LoadResult } from './wrk.ts';

/** Commands of a run of one second. */
const COMMANDS_PER_SECOND = 60_000;

const load = (test: 'get' | 'set', pipeline: number): Question['measure'] =>
  measured((port, seconds) => runBenchmark({ port, seconds, test, pipeline }));

const CLIENTS = '50 connections, values of 100 bytes, one Redis behind';

const all: readonly Question[] = [
  {
    name: 'redis-get',
    unit: `GET commands/s, ${CLIENTS}`,
    traits: ['redis'],
    measure: load('get', 1),
  },
  {
    name: 'redis-set',
    unit: `SET commands/s, ${CLIENTS}`,
    traits: ['redis'],
    measure: load('set', 1),
  },
  {
    name: 'redis-get-pipelined',
    unit: `GET commands/s, 16 at once on each of ${CLIENTS}`,
    traits: ['redis'],
    measure: load('get', 16),
  },
];

const isPossible = ['redis-server', 'redis-benchmark'].every((program) => isInstalled(program));

/** None without a Redis and its benchmark. */
export const redisQuestions: readonly Question[] = isPossible ? all : [];

export interface RunningRedis {
  stop(): void;
}

/** In memory alone, beside the upstream of HTTP. */
export async function startRedis(upstreamPort: number): Promise<RunningRedis> {
  if (!isPossible) return { stop: () => undefined };
  const port = upstreamPort + REDIS_PORT_OFFSET;
  const options = ['--port', String(port), '--save', '', '--appendonly', 'no'];
  const child = spawn('redis-server', options, { stdio: 'ignore' });
  await waitForPort(port);
  return { stop: () => void child.kill() };
}

interface RedisLoad {
  readonly port: number;
  readonly seconds: number;
  readonly test: 'get' | 'set';
  readonly pipeline: number;
}

async function runBenchmark({ port, seconds, test, pipeline }: RedisLoad): Promise<LoadResult> {
  const requests = COMMANDS_PER_SECOND * seconds * (pipeline > 1 ? 4 : 1);
  const options = `-p ${port} -c 50 -n ${requests} -d 100 -P ${pipeline} -t ${test} --csv`.split(
    ' ',
  );
  const output = await runPinned(LOAD_CORE, ['redis-benchmark', ...options]);
  const perSecond = Number(new RegExp(`"${test}","([\\d.]+)"`, 'i').exec(output)?.[1] ?? 0);
  const isWhole = perSecond > 0 && !output.includes('rror');
  return {
    requests,
    requestsPerSecond: perSecond,
    p99Ms: 0,
    failed: isWhole ? 0 : requests,
  };
}
