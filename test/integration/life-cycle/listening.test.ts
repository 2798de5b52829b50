/** Which process holds which listening socket, and what a listener may listen on. */
import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import type { IncomingMessage } from 'node:http';
import { GREETING, bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { childrenOf, listeningSockets } from '../../support/programs/processes.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startSluice } from '../../support/programs/sluice.ts';

const one = (fields: object = {}): object =>
  bootstrap({ listeners: [httpListener(GREETING, { listener: fields })] });

describe('a listener', () => {
  it('has one socket per worker; each worker holds its own and no other', async () => {
    await using sluice = await startSluice({ bootstrap: one(), concurrency: 2 });
    const port = await sluice.listenerPort('web');
    const held = childrenOf(sluice.pid).map((pid) => listeningSockets(pid));
    assert.deepEqual(
      held.map((sockets) => sockets.map((socket) => socket.port)),
      [[port], [port]],
    );
    assert.notEqual(held[0]?.[0]?.inode, held[1]?.[0]?.inode);
    const kept = listeningSockets(sluice.pid).filter((socket) => socket.port === port);
    assert.equal(kept.length, 2, 'the supervisor keeps both');
  });

  it('without reuse_port has one socket that all workers share', async () => {
    const bootstrapObject = one({ enable_reuse_port: false });
    await using sluice = await startSluice({ bootstrap: bootstrapObject, concurrency: 2 });
    const port = await sluice.listenerPort('web');
    const held = childrenOf(sluice.pid).map((pid) => listeningSockets(pid));
    assert.equal(held[0]?.[0]?.inode, held[1]?.[0]?.inode);
    for (let count = 0; count < 8; count += 1) {
      assert.equal((await fetchOnce({ port })).body, 'hi');
    }
  });

  it('may be an IPv6 address', async () => {
    const address = { socket_address: { address: '::1', port_value: 0 } };
    await using sluice = await startSluice({ bootstrap: one({ address }), concurrency: 2 });
    const outgoing = request({ host: '::1', port: await sluice.listenerPort('web') }).end();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    assert.equal(response.statusCode, 200);
    response.resume();
  });

  it('may be a unix socket with a mode, which is gone afterwards', async () => {
    using scratch = makeScratch();
    const path = scratch.file('web.sock');
    const address = { pipe: { path, mode: 0o620 } };
    await using sluice = await startSluice({ bootstrap: one({ address }), concurrency: 2 });
    assert.equal(statSync(path).mode & 0o777, 0o620);
    for (let count = 0; count < 8; count += 1) {
      assert.equal((await fetchOnce({ socketPath: path })).body, 'hi');
    }
    await sluice.stop();
    assert.equal(existsSync(path), false);
  });

  it('refuses connections once it was told to drain at once', async () => {
    await using sluice = await startSluice({ bootstrap: one(), concurrency: 2 });
    const port = await sluice.listenerPort('web');
    assert.equal((await fetchOnce({ port })).status, 200);
    const answer = await sluice.admin({ path: '/drain_listeners', method: 'POST' });
    assert.equal(answer.status, 200);
    await sluice.waitForStat('listener_manager.listener_stopped', (value) => value === 1);
    await assert.rejects(fetchOnce({ port }), { code: 'ECONNREFUSED' });
    // Stopped, but still configured: Envoy goes on listing it.
    assert.equal((await sluice.admin('/listeners')).body, `web::127.0.0.1:${port}\n`);
  });
});
