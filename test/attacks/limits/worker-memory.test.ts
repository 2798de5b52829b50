/**
 * A worker that gets no more memory from its machine: it may end, but alone. The others serve and
 * the supervisor answers meanwhile, another worker takes its place, and it is counted.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { attackRuns } from '../../support/attack.ts';
import { proxyTo } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { openRaw, type RawConnection } from '../../support/peers/raw-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { childrenOf } from '../../support/programs/processes.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const KIB = 1024;
const CLIENTS = attackRuns(60, 1500);
/** A client's body, which its host does not read. */
const BODY_BYTES = 1024 * KIB;

/** Lets the process map so much more than it has mapped. */
function limitMemory(pid: number, moreBytes: number): void {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = Number(/^VmSize:\s+(\d+)/m.exec(status)?.[1]) * KIB + moreBytes;
  execFileSync('prlimit', ['--pid', String(pid), `--as=${bytes}:${bytes}`]);
}

describe('a worker without memory', () => {
  for (const moreMiB of [1, 16].slice(attackRuns(1, 0))) {
    it(`ends alone, and another one serves: ${moreMiB} MiB left`, async () => {
      await using upstream = await startHttpUpstream((request, response) => {
        if (request.url === '/hold') request.pause();
        else response.end('hi');
      });
      await using sluice = await startSluice({
        bootstrap: proxyTo(upstream.port),
        concurrency: 2,
        // What cannot be mapped is thrown.
        throws: true,
      });
      const port = await sluice.listenerPort('web');
      const workers = childrenOf(sluice.pid);
      const [first = 0] = workers;
      limitMemory(first, moreMiB * KIB * KIB);
      const clients: RawConnection[] = [];
      const body = 'x'.repeat(BODY_BYTES);
      for (let at = 0; at < CLIENTS; at++) {
        const client = await openRaw(port);
        client.send(
          `POST /hold HTTP/1.1\r\nhost: h\r\ncontent-length: ${BODY_BYTES}\r\n\r\n${body}`,
        );
        clients.push(client);
        if (at % 20 === 0) assert.equal((await sluice.admin('/ready')).body, 'LIVE\n');
      }
      const isThere = (): boolean => childrenOf(sluice.pid).length === workers.length;
      await waitUntil('two workers', isThere);
      for (const client of clients) client.destroy();
      const asks = async (): Promise<boolean> =>
        (await fetchOnce({ port }).catch(() => undefined))?.status === 200;
      for (let turn = 0; turn < 10; turn++) await waitUntil('answers', asks);
      assert.equal((await sluice.admin('/ready')).body, 'LIVE\n');
      // Either it ended and is counted, or it went on with what it had.
      const ended = await sluice.stat('sluice.worker.exits_unasked');
      assert.equal(ended > 0, !childrenOf(sluice.pid).includes(first));
      assert.ok(childrenOf(sluice.pid).includes(workers[1] ?? 0), 'the other worker went on');
    });
  }
});
