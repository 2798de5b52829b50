/** What happens to a server when one of its workers dies or hangs. */
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { describe, it } from 'node:test';
import { GREETING, bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { childrenOf } from '../../support/programs/processes.ts';
import { openRaw, type RawConnection } from '../../support/peers/raw-client.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const listener = httpListener(GREETING);
const direct = bootstrap({ listeners: [listener] });

describe('a server whose worker is killed', () => {
  it('serves on with the other, has it back, and says so', async (t) => {
    await using sluice = await startSluice({ bootstrap: direct, concurrency: 2 });
    const port = await sluice.listenerPort('web');
    assert.equal(await sluice.stat('sluice.worker.exits_unasked'), 0);
    assert.doesNotMatch((await sluice.admin('/stats')).body, /sluice\.worker/);
    const load = startLoad(port);
    await waitUntil('some load', () => load.succeeded() > 200);
    const before = await counters(sluice);
    const [victim, other] = childrenOf(sluice.pid);
    assert.ok(victim !== undefined && other !== undefined);
    const killedAt = performance.now();
    process.kill(victim, 'SIGKILL');
    await waitUntil('the new worker', () => sluice.stderr().includes('serves again'));
    const backAfterMs = performance.now() - killedAt;
    // A figure to read, not to assert on: machines differ. Wanted: below 1,000 ms.
    t.diagnostic(`the worker was back after ${Math.round(backAfterMs)} ms`);
    const workers = childrenOf(sluice.pid);
    assert.ok(workers.length === 2 && workers.includes(other) && !workers.includes(victim));
    const seen = load.succeeded();
    await waitUntil('load after the crash', () => load.succeeded() > seen + 200);
    const failed = await load.stop();
    assert.ok(failed <= 32, `${failed} requests failed, more than there were connections`);
    const after = await counters(sluice);
    for (const [name, value] of before) {
      assert.ok((after.get(name) ?? 0) >= value, `${name} went back`);
    }
    assert.equal(await sluice.stat('sluice.worker.exits_unasked'), 1);
    assert.equal(await sluice.stat('sluice.worker.restarts'), 1);
  });

  it('loses that worker’s share of the gauges at once', async () => {
    await using sluice = await startSluice({ bootstrap: direct, concurrency: 2 });
    const port = await sluice.listenerPort('web');
    const connections: RawConnection[] = [];
    for (let count = 0; count < 16; count += 1) {
      const connection = await openRaw(port);
      connection.send('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
      await connection.until('hi');
      connections.push(connection);
    }
    const gauge = 'http.web.downstream_cx_active';
    await sluice.waitForStat(gauge, (value) => value === 16);
    const [victim] = childrenOf(sluice.pid);
    process.kill(victim ?? 0, 'SIGKILL');
    await waitUntil('connections to be cut', () =>
      connections.some(({ socket }) => socket.destroyed || socket.readableEnded),
    );
    await sluice.waitForStat(gauge, (value) => value < 16);
    const isOpen = ({ socket }: RawConnection): boolean =>
      !socket.destroyed && !socket.readableEnded;
    // This process hears of the end of each connection when it comes to it.
    await waitUntil('a gauge of what is left', async () => {
      const value = await sluice.stat(gauge);
      return value === connections.filter(isOpen).length;
    });
    for (const connection of connections) connection.destroy();
  });

  it('survives the death of all of them at once', async () => {
    await using sluice = await startSluice({ bootstrap: direct, concurrency: 2 });
    const port = await sluice.listenerPort('web');
    const workers = childrenOf(sluice.pid);
    for (const pid of workers) process.kill(pid, 'SIGKILL');
    // The sockets outlive the workers: the connection waits in an accept queue, unrefused.
    assert.equal((await fetchOnce({ port })).status, 200);
  });

  it('kills and replaces one that hangs, after the watchdog’s time', async () => {
    const watched = bootstrap(
      { listeners: [listener] },
      { watchdogs: { worker_watchdog: { kill_timeout: '0.5s' } } },
    );
    await using sluice = await startSluice({ bootstrap: watched, concurrency: 1 });
    const port = await sluice.listenerPort('web');
    const [victim] = childrenOf(sluice.pid);
    process.kill(victim ?? 0, 'SIGSTOP');
    assert.equal((await fetchOnce({ port })).status, 200);
    // One that is not given the processor for so long is killed, too.
    assert.ok((await sluice.stat('sluice.worker.killed_by_watchdog')) >= 1);
    const line = /worker 0 \(pid \d+\) has not answered for 500 ms/;
    await waitUntil('the line of the kill', () => line.test(sluice.stderr()));
  });
});

/** All counters, by name. */
async function counters(sluice: Sluice): Promise<ReadonlyMap<string, number>> {
  const { body } = await sluice.admin('/stats?type=Counters');
  return new Map(
    body
      .trim()
      .split('\n')
      .map((line) => line.split(': '))
      .map(([name = '', value]) => [name, Number(value)]),
  );
}

interface Load {
  succeeded(): number;
  /** Resolves with the number of requests that failed. */
  stop(): Promise<number>;
}

/** 32 keep-alive connections that ask again and again, and dial again after a failure. */
function startLoad(port: number): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  let succeeded = 0;
  let failed = 0;
  let isStopped = false;
  const ask = (): Promise<void> =>
    new Promise((resolve) => {
      const outgoing = request({ host: '127.0.0.1', port, agent }, (response) => {
        response.resume();
        response.on('error', () => undefined);
        response.on('close', () => {
          if (response.complete) succeeded += 1;
          else failed += 1;
          resolve();
        });
      });
      outgoing.on('error', () => {
        failed += 1;
        resolve();
      });
      outgoing.end();
    });
  const client = async (): Promise<void> => {
    while (!isStopped) await ask();
  };
  const clients = Array.from({ length: 32 }, client);
  return {
    succeeded: () => succeeded,
    stop: async () => {
      isStopped = true;
      await Promise.all(clients);
      agent.destroy();
      return failed;
    },
  };
}
