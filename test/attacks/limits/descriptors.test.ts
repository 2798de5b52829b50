/**
 * Processes that have no descriptor left: connections that cannot be taken wait or end, and as soon
 * as there are descriptors again the same processes serve, and nothing was left behind.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { openRaw, type RawConnection } from '../../support/peers/raw-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { childrenOf } from '../../support/programs/processes.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const MANY = 60;
const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

const setLimit = (pid: number, soft: number): void =>
  void execFileSync('prlimit', ['--pid', String(pid), `--nofile=${soft}:`]);

/** The number that a process cannot reach when it may open so many more descriptors. */
function limitFor(pid: number, more: number): number {
  const used = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
  let limit = 0;
  for (let left = more; used.has(limit) || left > 0; limit++) if (!used.has(limit)) left--;
  return limit;
}

/** Gives how to take the limit back. */
function leave(pid: number, more: number): () => void {
  const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
  const soft = Number(/^Max open files +(\d+)/m.exec(limits)?.[1]);
  setLimit(pid, limitFor(pid, more));
  return () => setLimit(pid, soft);
}

describe('a process without descriptors', () => {
  for (const process of ['worker', 'supervisor'] as const) {
    for (const more of [0, 3]) {
      it(`serves again: ${process} with ${more} left`, async () => {
        await using upstream = await startHttpUpstream((_, response) => response.end('hi'));
        await using sluice = await startSluice({
          bootstrap: bootstrap({
            listeners: [httpListener([{ match: { prefix: '/' }, route: { cluster: 'up' } }])],
            clusters: [staticCluster('up', [upstream.port])],
          }),
          concurrency: 1,
        });
        const port = await sluice.listenerPort('web');
        const [worker = 0] = childrenOf(sluice.pid);
        const pid = process === 'worker' ? worker : sluice.pid;
        const target = process === 'worker' ? port : sluice.adminPort;
        const asks = async (): Promise<boolean> =>
          (await fetchOnce({ port }).catch(() => undefined))?.status === 200;
        const idle = openFiles(pid);
        assert.ok(await asks());
        // The client's connection is closed soon, that of the worker to the host stays.
        const kept = process === 'worker' ? idle + 1 : idle;
        await waitUntil('the first connection is closed', () => openFiles(pid) <= kept);
        const before = openFiles(pid);
        const giveBack = leave(pid, more);
        const clients: RawConnection[] = [];
        for (let at = 0; at < MANY; at++) {
          const client = await openRaw(target);
          client.send('GET / HTTP/1.1\r\nhost: h\r\n\r\n');
          clients.push(client);
        }
        // The other process does not notice.
        if (process === 'worker') assert.equal((await sluice.admin('/ready')).status, 200);
        else assert.ok(await asks());
        if (more === 0) {
          const isServed = clients.some((client) => client.received().includes(' 200 '));
          assert.equal(isServed, false, 'the limit holds nothing up');
        }
        giveBack();
        for (const client of clients) client.destroy();
        await waitUntil('answers', asks);
        await waitUntil('probes', async () => {
          const answer = await sluice.admin('/ready').catch(() => undefined);
          return answer?.status === 200;
        });
        assert.deepEqual(childrenOf(sluice.pid), [worker]);
        await waitUntil('no more descriptors', () => openFiles(pid) <= before + 2);
        assert.equal(await sluice.stat('sluice.worker.exceptions'), 0);
      });
    }
  }
});
