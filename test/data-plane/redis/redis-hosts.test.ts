import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  redisOptions,
  type RedisSetup,
  type RedisStage,
  startRedis,
} from '../../support/redis/stage.ts';
import { host } from '../../support/parts/data-plane.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { waitUntil } from '../../support/wait.ts';
import {
  type RedisServer,
  respCommand,
  type Script,
  startRedisServer,
} from '../../support/redis/server.ts';

const GET = respCommand('GET', 'k');
const NOTHING = '$-1\r\n';

interface Stage extends RedisStage {
  readonly store: RedisServer;
}

async function start(script: Script, setup: RedisSetup = {}): Promise<Stage> {
  const store = await startRedisServer(script);
  const stage = await startRedis(
    { store },
    { ...setup, settings: { op_timeout: '0.2s', ...setup.settings } },
  );
  return {
    ...stage,
    store,
    async [Symbol.asyncDispose]() {
      await stage[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

describe('hosts of the Redis proxy', () => {
  it('are asked as the user that their cluster names', async () => {
    const cluster = redisOptions({
      auth_username: { inline_string: 'proxy' },
      auth_password: { inline_string: 'secret' },
    });
    await using stage = await start(() => undefined, { cluster });
    assert.equal(await stage.ask(GET), NOTHING);
    assert.deepEqual(stage.store.commands, ['auth proxy secret', 'GET k']);
  });

  it('lose the connection when they do not answer, or answer with something else', async () => {
    await using stage = await start(([, key]) => {
      const answers = new Map([
        ['hang', 'hang'],
        ['close', 'close'],
        ['odd', '!!!\r\n'],
      ]);
      return answers.get(key ?? '');
    });
    for (const key of ['hang', 'close', 'odd']) {
      assert.equal(await stage.ask(respCommand('GET', key)), '-upstream failure\r\n');
    }
    assert.equal(await stage.ask(GET), NOTHING);
    assert.equal(stage.stat('cluster.store.upstream_rq_timeout'), 1);
    assert.equal(stage.stat('cluster.store.upstream_cx_protocol_error'), 1);
    assert.equal(stage.stat('cluster.store.upstream_cx_destroy_remote_with_active_rq'), 1);
    assert.equal(stage.stat('cluster.store.upstream_cx_total'), 4);
    assert.equal(stage.stat('cluster.store.upstream_cx_active'), 1);
    assert.equal(stage.stat('cluster.store.upstream_rq_active'), 0);
  });

  it('may send a command on to another host', async () => {
    await using target = await startRedisServer();
    const script: Script = ([, key]) => {
      if (key === 'moved') return `-MOVED 1 127.0.0.1:${target.port}\r\n`;
      if (key === 'ask') return `-ASK 1 127.0.0.1:${target.port}\r\n`;
      return key === 'named' ? '-MOVED 1 other.test:1\r\n' : '-CLUSTERDOWN sorry\r\n';
    };
    await using stage = await start(script, { settings: { enable_redirection: true } });
    assert.equal(await stage.ask(respCommand('GET', 'moved')), NOTHING);
    assert.equal(await stage.ask(respCommand('GET', 'ask')), NOTHING);
    assert.match(await stage.ask(respCommand('GET', 'named')), /^-MOVED/);
    assert.equal(await stage.ask(respCommand('GET', 'down')), '-upstream failure\r\n');
    assert.deepEqual(target.commands, ['GET moved', 'asking', 'GET ask']);
    assert.equal(stage.stat('cluster.store.upstream_internal_redirect_succeeded_total'), 2);
    assert.equal(stage.stat('cluster.store.upstream_internal_redirect_failed_total'), 1);
  });

  it('cannot send a command round in circles', async () => {
    const moved = { to: '' };
    const settings = { enable_redirection: true };
    await using stage = await start(() => moved.to, { settings });
    moved.to = `-MOVED 1 127.0.0.1:${stage.store.port}\r\n`;
    assert.match(await stage.ask(GET), /^-MOVED/);
    assert.equal(stage.store.commands.length, 17);
  });

  it('agree on RESP3 before they are sent anything', async () => {
    const hello = '%2\r\n+server\r\n+redis\r\n+proto\r\n:3\r\n';
    const script: Script = ([name]) => (name === 'HELLO' ? hello : '%1\r\n+a\r\n#t\r\n');
    await using stage = await start(script, { config: { protocol_version: 'RESP3' } });
    assert.match(await stage.ask(GET), /^-NOPROTO/);
    assert.match(await stage.ask(respCommand('HELLO', '2')), /^-NOPROTO/);
    assert.match(await stage.ask(respCommand('HELLO')), /^-NOPROTO/);
    const client = await openRaw(stage.port);
    client.send(respCommand('HELLO', '3') + GET);
    assert.match(await client.until(/#t\r\n$/), /^%7\r\n.*%1\r\n\+a\r\n#t\r\n$/s);
    client.destroy();
    assert.deepEqual(stage.store.commands, ['HELLO 3', 'GET k']);
    assert.equal(stage.stat('redis.cache.downstream_rq_noproto'), 1);
  });

  it('that do not agree on RESP3 fail all commands', async () => {
    await using stage = await start(() => '-ERR no\r\n', { config: { protocol_version: 'RESP3' } });
    const client = await openRaw(stage.port);
    client.send(respCommand('HELLO', '3') + GET);
    await client.until(/-upstream failure\r\n$/);
    client.destroy();
    const failures = 'cluster.store.redis_cluster.upstream_resp3_hello_failure';
    assert.equal(stage.stat(failures), 1);
  });

  it('are connected to as often as the configuration says', async () => {
    const settings = { connection_rate_limit: { connection_rate_limit_per_sec: 1 } };
    await using stage = await start(([, key]) => (key === 'close' ? 'close' : undefined), {
      settings,
    });
    assert.equal(await stage.ask(respCommand('GET', 'close')), '-upstream failure\r\n');
    assert.equal(await stage.ask(GET), '-no upstream host\r\n');
    const limited = 'cluster.store.redis_cluster.connection_rate_limited';
    assert.equal(stage.stat(limited), 1);
  });

  it('that leave their cluster still answer what they were asked', async () => {
    await using other = await startRedisServer();
    let answerNow: (() => void) | undefined;
    await using stage = await start(
      ([, key], _, answer) => {
        if (key !== 'late') return undefined;
        answerNow = () => answer('+late\r\n');
        return 'hang';
      },
      { settings: { op_timeout: '5s' } },
    );
    const client = await openRaw(stage.port);
    client.send(respCommand('GET', 'late'));
    await waitUntil('the command', () => answerNow !== undefined);
    const hosts = { cluster: 'store', hosts: [host(other.port)], overprovisioningFactor: 140 };
    await stage.plane.apply([{ op: 'put_hosts', hosts }]);
    client.send(GET);
    await waitUntil('the other host', () => other.commands.length === 1);
    answerNow?.();
    assert.equal(await client.until(/-1/), `+late\r\n${NOTHING}`);
    client.destroy();
    assert.equal(stage.stat('cluster.store.redis_cluster.upstream_cx_drained'), 1);
    assert.equal(stage.stat('cluster.store.upstream_cx_active'), 1);
  });

  it('get commands together, after a time or an amount of bytes', async () => {
    const settings = { max_buffer_size_before_flush: 1024, buffer_flush_timeout: '0.01s' };
    await using stage = await start(() => undefined, { settings });
    assert.equal(await stage.ask(GET + GET), NOTHING + NOTHING);
    const large = respCommand('SET', 'k', 'x'.repeat(2000));
    assert.equal(await stage.ask(large), '+OK\r\n');
    assert.equal(stage.store.data.get('k')?.length, 2000);
  });

  it('take and give texts of megabytes', async () => {
    await using stage = await start(() => undefined, { settings: { op_timeout: '5s' } });
    const value = 'x'.repeat(3_000_000);
    const client = await openRaw(stage.port);
    client.send(respCommand('SET', 'k', value) + GET);
    const text = await client.until((received) => received.length > value.length + 10);
    assert.equal(text, `+OK\r\n$${value.length}\r\n${value}\r\n`);
    client.destroy();
  });

  it('count each command where the configuration asks for it', async () => {
    const settings = { enable_command_stats: true };
    await using stage = await start(([, key]) => (key === 'bad' ? '-ERR\r\n' : undefined), {
      settings,
    });
    await stage.ask(GET);
    await stage.ask(respCommand('GET', 'bad'));
    await stage.ask(respCommand('OBJECT', 'ENCODING', 'k'));
    const prefix = 'cluster.store.redis_cluster.upstream_commands';
    assert.equal(stage.stat(`${prefix}.get.total`), 2);
    assert.equal(stage.stat(`${prefix}.get.success`), 1);
    assert.equal(stage.stat(`${prefix}.get.failure`), 1);
    assert.equal(stage.stat(`${prefix}.unknown.total`), 1);
  });
});
