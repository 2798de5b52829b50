/** Redis's own programs through the Redis proxy, with a Redis behind it. */
import { spawn } from 'node:child_process';
import { freePort } from '../../test/support/free-port.ts';
import { bootstrap, staticCluster } from '../../test/support/parts/bootstrap.ts';
import { filterListener, networkFilter } from '../../test/support/parts/tcp-listener.ts';
import { startSluice } from '../../test/support/programs/sluice.ts';
import { waitUntil } from '../../test/support/wait.ts';
import { check, passed, runProgram, type Trial, trialOfAll, type TrialOutcome } from './trial.ts';

const COMMANDS = 20_000;
/** Tests of redis-benchmark whose commands are for one key, or split by keys. */
const TESTS = ['set', 'get', 'incr', 'lpush', 'rpop', 'sadd', 'hset', 'zadd', 'lrange_100', 'mset'];

export const redisPrograms: readonly Trial[] = [
  trialOfAll(['redis-server', 'redis-cli', 'redis-benchmark'], 'Redis through redis_proxy', redis),
];

async function redis(): Promise<TrialOutcome> {
  const port = await freePort();
  const options = ['--port', String(port), '--save', '', '--appendonly', 'no'];
  const server = spawn('redis-server', options, { stdio: 'ignore' });
  try {
    await using sluice = await startSluice({ bootstrap: redisProxyTo(port) });
    const own = String(await sluice.listenerPort('redis'));
    const cli = async (...words: readonly string[]): Promise<string> =>
      (await runProgram('redis-cli', ['-p', own, ...words])).trim();
    await waitUntil('the server', async () => (await cli('SET', 'k', 'v')) === 'OK', 30_000);
    check((await cli('GET', 'k')) === 'v', 'GET');
    check((await cli('MSET', 'a', '1', 'b', '2')) === 'OK', 'MSET');
    check((await cli('MGET', 'a', 'none', 'b')) === '1\n\n2', 'MGET');
    check((await cli('EVAL', 'return KEYS[1]', '1', 'k')) === 'k', 'EVAL');
    check((await cli('DEL', 'a', 'b', 'none')) === '2', 'DEL');
    check(/redis_mode:cluster/.test(await cli('INFO', 'server')), 'INFO');
    const load = ['-p', own, '-n', String(COMMANDS), '-c', '20', '-P', '16', '-q'];
    const report = await runProgram('redis-benchmark', [...load, '-t', TESTS.join(',')]);
    check(!/rror/.test(report), report);
    const results = report.match(/[\d.]+ requests per second/g) ?? [];
    // A test of lists fills one first.
    check(results.length > TESTS.length, report);
    const failed = await sluice.stat('redis.trial.splitter.invalid_request');
    check(failed === 0, `${failed} invalid requests`);
    return passed(`redis-cli, and ${results.length} tests of redis-benchmark, ${COMMANDS} each`);
  } finally {
    server.kill();
  }
}

function redisProxyTo(port: number): object {
  const filter = networkFilter('redis_proxy', 'redis_proxy.v3.RedisProxy', {
    stat_prefix: 'trial',
    settings: { op_timeout: '5s' },
    prefix_routes: { catch_all_route: { cluster: 'store' } },
  });
  return bootstrap({
    listeners: [filterListener([filter], { name: 'redis' })],
    clusters: [staticCluster('store', [port])],
  });
}
