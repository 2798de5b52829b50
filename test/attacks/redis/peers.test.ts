/**
 * Clients and hosts of the Redis proxy that break the protocol in any way: nothing is thrown, no
 * connection hangs, and nothing stays open or counted behind them.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startRedis } from '../../support/redis/stage.ts';
import { attackRandom, attackTurns } from '../../support/attack.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { respCommand, startRedisServer } from '../../support/redis/server.ts';
import { waitUntil } from '../../support/wait.ts';

const PIECES = [
  ...'*$:+-_#,(!=%~>|'.split(''),
  ...'1 2 -1 99999999 \r\n \r \n " \' \\x \u0000 a GET'.split(' '),
  ' ',
  respCommand('GET', 'k'),
  respCommand('MGET', 'a', 'b'),
  respCommand('MULTI'),
  respCommand('EXEC'),
  respCommand('WATCH', 'k'),
  respCommand('SET', '__proto__', 'constructor'),
  respCommand('HELLO', '2'),
  respCommand('AUTH', 'a', 'b'),
  respCommand('INFO'),
  respCommand('constructor', '__proto__'),
];

const random = attackRandom(7);
const pick = <Item>(items: readonly Item[]): Item =>
  items[Math.floor(random() * items.length)] as Item;

function anything(): string {
  return Array.from({ length: 1 + Math.floor(random() * 12) }, () => pick(PIECES)).join('');
}

const GAUGES = [
  'redis.cache.downstream_cx_active',
  'redis.cache.downstream_rq_active',
  'cluster.store.upstream_rq_active',
];

describe('peers of the Redis proxy that break its protocol', () => {
  it('are clients', { timeout: 120_000 }, async () => {
    await using store = await startRedisServer();
    await using stage = await startRedis({ store });
    for (const _ of attackTurns(150, 20_000)) {
      const client = await openRaw(stage.port);
      client.send(anything());
      client.send(anything());
      client.end();
      await client.closed();
      client.destroy();
    }
    assert.equal(await stage.ask(respCommand('PING')), '+PONG\r\n');
    for (const name of GAUGES) await waitUntil(name, () => stage.stat(name) === 0);
  });

  it('are hosts', { timeout: 120_000 }, async () => {
    await using store = await startRedisServer(() => (random() < 0.1 ? 'close' : anything()));
    const settings = { op_timeout: '0.02s', enable_redirection: true, enable_command_stats: true };
    await using stage = await startRedis({ store }, { settings });
    const commands = [
      respCommand('GET', 'k'),
      respCommand('MGET', 'a', 'b'),
      respCommand('DEL', 'a', 'b'),
      respCommand('INFO'),
      respCommand('KEYS', '*'),
      respCommand('SCAN', '0'),
      `${respCommand('MULTI')}${respCommand('GET', 'k')}${respCommand('EXEC')}`,
    ];
    for (const _ of attackTurns(150, 20_000)) {
      const client = await openRaw(stage.port);
      client.send(pick(commands) + respCommand('PING'));
      await client.until(/PONG\r\n$/);
      client.destroy();
    }
    for (const name of GAUGES) await waitUntil(name, () => stage.stat(name) === 0);
  });
});
