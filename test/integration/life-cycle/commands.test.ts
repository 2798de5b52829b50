/** What operators command a running server to do, and what its workers then do. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { describe, it } from 'node:test';
import { GREETING, bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { childrenOf } from '../../support/programs/processes.ts';
import { openRaw, type RawConnection } from '../../support/peers/raw-client.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const listener = httpListener(GREETING);
const direct = bootstrap({ listeners: [listener] });

describe('a running server', () => {
  it('is not ready while its health check is failed, and serves all the same', async () => {
    await using sluice = await startSluice({ bootstrap: direct, concurrency: 2 });
    const port = await sluice.listenerPort('web');
    await sluice.admin({ path: '/healthcheck/fail', method: 'POST' });
    const unready = await sluice.admin('/ready');
    assert.deepEqual([unready.status, unready.body], [503, 'DRAINING\n']);
    assert.deepEqual([await sluice.stat('server.state'), await sluice.stat('server.live')], [1, 0]);
    await sluice.settled();
    assert.equal(await isClosedAfterAnswer(port), true);
    await sluice.admin({ path: '/healthcheck/ok', method: 'POST' });
    assert.equal((await sluice.admin('/ready')).status, 200);
    await sluice.settled();
    assert.equal(await isClosedAfterAnswer(port), false);
  });

  it('tells a replaced worker what was commanded before', async () => {
    await using sluice = await startSluice({ bootstrap: direct, concurrency: 1 });
    const port = await sluice.listenerPort('web');
    await sluice.admin({ path: '/healthcheck/fail', method: 'POST' });
    process.kill(childrenOf(sluice.pid)[0] ?? 0, 'SIGKILL');
    await waitUntil('the new worker', () => sluice.stderr().includes('serves again'));
    assert.equal(await isClosedAfterAnswer(port), true);
  });

  it('drains gracefully until its drain time is over, then refuses connections', async () => {
    const args = ['--drain-time-s', '1', '--drain-strategy', 'immediate'];
    await using sluice = await startSluice({ bootstrap: direct, concurrency: 2, args });
    const port = await sluice.listenerPort('web');
    const connection = await openRaw(port);
    await sluice.admin({ path: '/drain_listeners?graceful', method: 'POST' });
    await sluice.settled();
    assert.equal(await announcesEnd(connection), true);
    assert.equal((await sluice.admin('/ready')).status, 200);
    await sluice.waitForStat('listener_manager.listener_stopped', (value) => value === 1);
    await assert.rejects(fetchOnce({ port }), { code: 'ECONNREFUSED' });
  });

  it('drains only inbound listeners when asked to', async () => {
    await using sluice = await startSluice({
      concurrency: 2,
      bootstrap: bootstrap({
        listeners: [
          httpListener([{ match: { prefix: '/' }, direct_response: { status: 200 } }], {
            name: 'in',
            listener: { traffic_direction: 'INBOUND' },
          }),
          listener,
        ],
      }),
    });
    const inbound = await sluice.listenerPort('in');
    const other = await sluice.listenerPort('web');
    await sluice.admin({ path: '/drain_listeners?inboundonly', method: 'POST' });
    await sluice.waitForStat('listener_manager.listener_stopped', (value) => value === 1);
    await assert.rejects(fetchOnce({ port: inbound }), { code: 'ECONNREFUSED' });
    assert.equal((await fetchOnce({ port: other })).status, 200);
  });

  it('opens its log again on SIGUSR1', async () => {
    using scratch = makeScratch();
    const path = scratch.file('server.log');
    await using sluice = await startSluice({ bootstrap: direct, args: ['--log-path', path] });
    renameSync(path, scratch.file('rotated.log'));
    sluice.signal('SIGUSR1');
    await waitUntil('the new file', () => existsSync(path));
    await sluice.stop();
    assert.match(readFileSync(path, 'utf8'), /\[main\].* exiting\n/);
    assert.doesNotMatch(readFileSync(scratch.file('rotated.log'), 'utf8'), / exiting\n/);
  });
});

/** Whether the answer to a request on a connection that may stay open announces its end. */
async function isClosedAfterAnswer(port: number): Promise<boolean> {
  return announcesEnd(await openRaw(port));
}

async function announcesEnd(connection: RawConnection): Promise<boolean> {
  connection.send('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  const answer = await connection.until('hi');
  connection.destroy();
  return answer.includes('connection: close');
}
