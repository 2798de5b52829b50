/**
 * Clients and hosts of a UDP proxy that send more, larger, smaller and stranger datagrams than
 * anybody should: sessions stay within the cluster's limit, those that are known go on, and nothing
 * is left when it is over.
 */
import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { attackRandom, attackRuns } from '../../support/attack.ts';
import { bootstrap, staticCluster } from '../../support/parts/bootstrap.ts';
import { udpListener } from '../../support/parts/udp-listener.ts';
import {
  type DatagramClient,
  openDatagramClient,
  startDatagramHost,
} from '../../support/peers/services/datagrams.ts';
import { childrenOf } from '../../support/programs/processes.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil, within } from '../../support/wait.ts';

const SESSIONS = 50;
const SOURCES = attackRuns(150, 5000);
const DATAGRAMS = attackRuns(20, 200);
/** What a datagram may hold over IPv4. */
const LARGEST = 65_507;

const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

async function start(port: number, fields: object = {}): Promise<Sluice> {
  const limit = { thresholds: [{ max_connections: SESSIONS }] };
  return await startSluice({
    bootstrap: bootstrap({
      listeners: [udpListener(0, { cluster: 'up', idle_timeout: '1.5s', ...fields })],
      clusters: [staticCluster('up', [port], { circuit_breakers: limit })],
    }),
    concurrency: 1,
  });
}

/** Asks again and again: a socket whose buffer is full loses datagrams. */
async function asks(client: DatagramClient, text: string): Promise<void> {
  const answer = client.next();
  const again = setInterval(() => client.send(text), 100);
  client.send(text);
  try {
    assert.match(await within('an answer', answer, 20_000), /^re /);
  } finally {
    clearInterval(again);
  }
}

/** Every source is a client of its own: another port, or another address of this machine. */
async function sourceAt(index: number): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.on('error', () => undefined);
  // A test that fails must not wait for its sockets.
  socket.unref();
  socket.bind(0, `127.0.${1 + (index >> 8)}.${1 + (index & 127)}`);
  await once(socket, 'listening');
  return socket;
}

describe('a proxy of datagrams', { concurrency: true }, () => {
  it('keeps its sessions when thousands of sources send whatever they like', async () => {
    const random = attackRandom();
    await using host = await startDatagramHost((text) => `re ${text.slice(0, 20)}`);
    await using sluice = await start(host.port);
    const [worker = 0] = childrenOf(sluice.pid);
    const port = await sluice.listenerPort('udp');
    await using known = await openDatagramClient(port);
    await asks(known, 'before');
    const before = openFiles(worker);
    const sources: Socket[] = [];
    for (let at = 0; at < SOURCES; at++) {
      const socket = await sourceAt(at);
      sources.push(socket);
      const bytes = [0, 1, 1400, Math.floor(random() * LARGEST), LARGEST][at % 5] ?? 0;
      for (let turn = 0; turn < DATAGRAMS; turn++) {
        socket.send(Buffer.alloc(bytes, random() * 256), port, '127.0.0.1');
      }
      if (at % 50 === 49) await asks(known, `at ${at}`);
    }
    assert.ok((await sluice.stat('udp.s.downstream_sess_active')) <= SESSIONS);
    assert.ok(openFiles(worker) <= before + SESSIONS + 2);
    // The kernel drops what comes faster than it is read: large ones may all have been lost.
    await waitUntil('a refused session', async () => {
      for (const socket of sources) socket.send('small', port, '127.0.0.1');
      return (await sluice.stat('cluster.up.upstream_cx_overflow')) > 0;
    });
    for (const socket of sources) socket.close();
    await sluice.waitForStat('udp.s.downstream_sess_active', (value) => value <= 1);
    await waitUntil('closed sockets', () => openFiles(worker) <= before);
    await asks(known, 'after');
    assert.deepEqual(childrenOf(sluice.pid), [worker]);
    assert.equal(await sluice.stat('sluice.worker.exceptions'), 0);
  });

  it('passes no client what another one asked, whatever hosts send', async () => {
    const random = attackRandom(1);
    const host = createSocket('udp4');
    const peers = new Set<number>();
    host.on('error', () => undefined);
    host.on('message', (data, { port }) => {
      peers.add(port);
      // To the one that asked: its text, among much and large that nobody asked for.
      for (let turn = 0; turn < DATAGRAMS; turn++) {
        host.send(Buffer.alloc(Math.floor(random() * LARGEST), `${String(data)},`), port);
      }
      host.send('', port);
      host.send(data, port);
    });
    host.bind(0, '127.0.0.1');
    await once(host, 'listening');
    await using sluice = await start(host.address().port);
    const [worker = 0] = childrenOf(sluice.pid);
    const port = await sluice.listenerPort('udp');
    const clients = await Promise.all(Array.from({ length: 10 }, async () => sourceAt(0)));
    const wrong: string[] = [];
    let heard = 0;
    for (const [at, client] of clients.entries()) {
      client.on('message', (data) => {
        heard += 1;
        if (data.some((byte) => byte !== 0x2c && byte !== 0x30 + at)) wrong.push(`${at}`);
      });
      for (let turn = 0; turn < 5; turn++) client.send(String(at), port, '127.0.0.1');
    }
    await waitUntil('answers', () => heard > 100);
    assert.deepEqual(wrong, []);
    assert.ok(peers.size <= clients.length);
    // A stranger that knows a session's port is not its host.
    const stranger = await sourceAt(3);
    const before = await sluice.stat('cluster.up.udp.sess_rx_datagrams');
    for (const peer of peers) stranger.send('forged', peer, '127.0.0.1');
    for (const client of clients) client.send('9', port, '127.0.0.1');
    await sluice.waitForStat('cluster.up.udp.sess_rx_datagrams', (value) => value > before);
    assert.ok(!wrong.some((each) => each === 'forged'));
    for (const socket of [host, stranger, ...clients]) socket.close();
    await sluice.waitForStat('udp.s.downstream_sess_active', (value) => value === 0);
    assert.deepEqual(childrenOf(sluice.pid), [worker]);
    assert.equal(await sluice.stat('sluice.worker.exceptions'), 0);
  });
});
