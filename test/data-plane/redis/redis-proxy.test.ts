import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startRedis } from '../../support/redis/stage.ts';
import { CLOSED_PORT } from '../../support/peers/upstream.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { respCommand, startRedisServer } from '../../support/redis/server.ts';
import { waitUntil } from '../../support/wait.ts';

describe('the Redis proxy', () => {
  it('takes commands to the host, and answers some by itself', async () => {
    await using store = await startRedisServer();
    await using stage = await startRedis({ store });
    const set = respCommand('SET', 'k', 'v');
    assert.equal(await stage.ask(set, respCommand('get', 'k')), '+OK\r\n$1\r\nv\r\n');
    assert.equal(await stage.ask('PING\r\n', 'ECHO "a\\x41 b"\r\n'), '+PONG\r\n$4\r\naA b\r\n');
    assert.match(await stage.ask(respCommand('NOSUCH', 'a')), /^-ERR unknown command 'NOSUCH'/);
    assert.equal(await stage.ask(respCommand('GET')), '-invalid request\r\n');
    assert.match(await stage.ask(respCommand('HELLO')), /^\*14\r\n\$6\r\nserver/);
    assert.deepEqual(store.commands, ['SET k v', 'get k']);
    assert.equal(stage.stat('redis.cache.command.get.success'), 1);
    assert.equal(stage.stat('redis.cache.splitter.unsupported_command'), 1);
    assert.equal(stage.stat('redis.cache.splitter.invalid_request'), 1);
    assert.equal(stage.stat('cluster.store.upstream_rq_total'), 2);
    assert.equal(stage.stat('cluster.store.upstream_cx_total'), 1);
  });

  it('answers in the order of the commands, however hosts do', async () => {
    await using store = await startRedisServer();
    await using slow = await startRedisServer((words) =>
      words[1] === 'late' ? 'hang' : undefined,
    );
    const routes = [{ prefix: 'late', cluster: 'slow' }];
    await using stage = await startRedis(
      { store, slow },
      {
        config: { prefix_routes: { routes, catch_all_route: { cluster: 'store' } } },
        settings: { op_timeout: '0.2s' },
      },
    );
    const client = await openRaw(stage.port);
    client.send(respCommand('GET', 'late') + respCommand('GET', 'a') + respCommand('PING'));
    const text = await client.until(/PONG/);
    assert.equal(text, '-upstream failure\r\n$-1\r\n+PONG\r\n');
    client.destroy();
    assert.equal(stage.stat('cluster.slow.upstream_rq_timeout'), 1);
  });

  it('finds clusters by the longest prefix, rewrites keys, and copies what it sends', async () => {
    await using store = await startRedisServer();
    await using other = await startRedisServer();
    await using copy = await startRedisServer();
    const mirror = [{ cluster: 'copy', exclude_read_commands: true }];
    const routes = [
      { prefix: 'a', cluster: 'store', key_formatter: 'x-%KEY%' },
      { prefix: 'ab:', cluster: 'other', remove_prefix: true, request_mirror_policy: mirror },
      { prefix: 'r:', cluster: 'store', read_command_policy: { cluster: 'other' } },
    ];
    await using stage = await startRedis(
      { store, other, copy },
      { config: { prefix_routes: { routes } } },
    );
    await stage.ask(respCommand('SET', 'ab:1', 'v'), respCommand('GET', 'ab:1'));
    await stage.ask(respCommand('GET', 'ac'), respCommand('GET', 'r:1'), respCommand('DEL', 'r:1'));
    assert.equal(await stage.ask(respCommand('GET', 'zz')), '-no upstream host\r\n');
    assert.deepEqual(other.commands, ['SET 1 v', 'GET 1', 'GET r:1']);
    assert.deepEqual(store.commands, ['GET x-ac', 'DEL r:1']);
    assert.deepEqual(copy.commands, ['SET 1 v']);
  });

  it('splits commands with several keys, and puts the answers together', async () => {
    await using store = await startRedisServer();
    await using other = await startRedisServer();
    const routes = [
      { prefix: 'o:', cluster: 'other' },
      { prefix: 'gone:', cluster: 'gone' },
    ];
    const catchAll = { catch_all_route: { cluster: 'store' } };
    await using stage = await startRedis(
      { store, other, gone: [CLOSED_PORT] },
      { config: { prefix_routes: { routes, ...catchAll } } },
    );
    assert.equal(await stage.ask(respCommand('MSET', 'a', '1', 'o:b', '2')), '+OK\r\n');
    const answer = await stage.ask(respCommand('MGET', 'a', 'o:b', 'c', 'gone:d'));
    assert.equal(answer, '*4\r\n$1\r\n1\r\n$1\r\n2\r\n$-1\r\n-upstream failure\r\n');
    assert.equal(await stage.ask(respCommand('EXISTS', 'a', 'o:b', 'o:c')), ':2\r\n');
    assert.equal(await stage.ask(respCommand('DEL', 'a', 'o:b')), ':2\r\n');
    const failed = '-finished with 1 error(s)\r\n';
    assert.equal(await stage.ask(respCommand('DEL', 'a', 'gone:b')), failed);
    assert.equal(await stage.ask(respCommand('KEYS', '*')), '*0\r\n');
    assert.match(await stage.ask(respCommand('MSET', 'a')), /^-wrong number of arguments/);
    assert.ok(store.commands.includes('set a 1') && other.commands.includes('get o:b'));
  });

  it('gives each transaction a connection of its own', async () => {
    await using store = await startRedisServer();
    await using stage = await startRedis({ store });
    const [multi, exec] = [respCommand('MULTI'), respCommand('EXEC')];
    const answer = await stage.ask(
      multi,
      respCommand('SET', 'k', 'v'),
      exec,
      respCommand('GET', 'k'),
    );
    assert.equal(answer, '+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n$1\r\nv\r\n');
    assert.deepEqual(store.numbered, ['0: MULTI', '0: SET k v', '0: EXEC', '1: GET k']);
    assert.equal(await stage.ask(multi, exec), '+OK\r\n*0\r\n');
    assert.equal(await stage.ask(exec), '-EXEC without MULTI\r\n');
    const within = await stage.ask(multi, respCommand('EVAL', 'return 1', '1', 'k'));
    assert.match(within, /not supported within transaction/);
    await waitUntil('the end', () => stage.stat('cluster.store.upstream_cx_active') === 1);
  });

  it('watches keys on the connection of the transaction', async () => {
    await using store = await startRedisServer();
    await using stage = await startRedis({ store });
    await stage.ask(
      respCommand('WATCH', 'k'),
      respCommand('MULTI'),
      respCommand('GET', 'k'),
      respCommand('EXEC'),
    );
    assert.deepEqual(store.numbered, ['0: WATCH k', '0: MULTI', '0: GET k', '0: EXEC']);
  });

  it('lets nobody in without a password', async () => {
    await using store = await startRedisServer();
    const passwords = [{ inline_string: 'one' }, { inline_string: 'two' }];
    await using stage = await startRedis(
      { store },
      { config: { downstream_auth_passwords: passwords } },
    );
    const refused = '-NOAUTH Authentication required.\r\n';
    assert.equal(await stage.ask(respCommand('GET', 'a'), respCommand('PING')), refused + refused);
    const wrong = await stage.ask(respCommand('AUTH', 'on'), respCommand('GET', 'a'));
    assert.equal(wrong, `-ERR invalid password\r\n${refused}`);
    assert.equal(
      await stage.ask(respCommand('AUTH', 'two'), respCommand('GET', 'a')),
      '+OK\r\n$-1\r\n',
    );
    const pair = await stage.ask(
      respCommand('AUTH', 'default', 'one'),
      respCommand('AUTH', 'x', 'one'),
    );
    assert.equal(pair, '+OK\r\n-WRONGPASS invalid username-password pair\r\n');
    assert.match(await stage.ask(respCommand('HELLO', '2', 'AUTH', 'default', 'one')), /^\*14/);
    assert.equal(await stage.ask(respCommand('HELLO')), refused);
    assert.equal(await stage.ask(respCommand('QUIT')), '+OK\r\n');
    assert.equal(stage.stat('redis.cache.command.hello.total'), 2);
    assert.equal(stage.stat('redis.cache.command.hello.success'), 1);
    assert.equal(stage.stat('redis.cache.command.hello.error'), 1);
  });

  it('closes when it is told to, and when its client breaks the protocol', async () => {
    await using store = await startRedisServer();
    await using stage = await startRedis({ store });
    const port = stage.port;
    const leaving = await openRaw(port);
    leaving.send(respCommand('GET', 'a') + respCommand('QUIT') + respCommand('GET', 'b'));
    assert.equal(await leaving.closed(), '$-1\r\n+OK\r\n$-1\r\n');
    const broken = await openRaw(port);
    broken.send(`${respCommand('PING')}!!!\r\n`);
    assert.equal(await broken.closed(), '+PONG\r\n-downstream protocol error\r\n');
    assert.equal(stage.stat('redis.cache.downstream_cx_protocol_error'), 1);
    await waitUntil('the end', () => stage.stat('redis.cache.downstream_cx_active') === 0);
    assert.equal(stage.stat('redis.cache.downstream_rq_active'), 0);
  });

  it('closes connections with their next answer while the listener drains', async () => {
    await using store = await startRedisServer();
    await using stage = await startRedis({ store });
    const client = await openRaw(stage.port);
    client.send(respCommand('GET', 'a'));
    await client.until(/-1/);
    stage.plane.setHealthCheckFailed(true);
    client.send(respCommand('GET', 'a'));
    await client.closed();
    assert.equal(stage.stat('redis.cache.downstream_cx_drain_close'), 1);
  });

  it('injects errors and delays as far as it is told to', async () => {
    await using store = await startRedisServer();
    const share = { default_value: { numerator: 100 } };
    const faults = [
      { fault_type: 'ERROR', fault_enabled: share, commands: ['GET'] },
      { fault_type: 'DELAY', fault_enabled: share, delay: '0.05s', commands: ['SET'] },
    ];
    await using stage = await startRedis({ store }, { config: { faults } });
    const answer = await stage.ask(respCommand('GET', 'a'), respCommand('SET', 'a', 'b'));
    assert.equal(answer, '-Fault Injected: Error\r\n+OK\r\n');
    assert.equal(stage.stat('redis.cache.command.get.error_fault'), 1);
    assert.equal(stage.stat('redis.cache.command.set.delay_fault'), 1);
    assert.deepEqual(store.commands, ['SET a b']);
  });
});
