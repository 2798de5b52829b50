import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { childrenOf } from '../../support/programs/processes.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';

const ROUTES = [{ match: { prefix: '/' }, route: { cluster: 'up', timeout: '0s' } }];
const BREAKERS = 'cluster.up.circuit_breakers.default';
const LIMIT = 6;

describe('circuit breakers of the whole server', () => {
  it('let exactly as many requests pass as the limit says, and forget a worker that dies', async () => {
    const answers: (() => void)[] = [];
    await using upstream = await startHttpUpstream((_, response) => {
      answers.push(() => response.end('late'));
    });
    const thresholds = [{ max_requests: LIMIT, track_remaining: true }];
    await using sluice = await startSluice({
      concurrency: 2,
      bootstrap: bootstrap({
        listeners: [httpListener(ROUTES)],
        clusters: [staticCluster('up', [upstream.port], { circuit_breakers: { thresholds } })],
      }),
    });
    const port = await sluice.listenerPort('web');
    assert.equal(await sluice.stat(`${BREAKERS}.remaining_rq`), LIMIT);
    const statuses: number[] = [];
    const asked = Array.from({ length: 4 * LIMIT }, async () => {
      const answer = await fetchOnce({ port, path: '/' }).catch(() => ({ status: 0 }));
      statuses.push(answer.status);
    });
    await waitUntil('the refusals', () => statuses.length >= 3 * LIMIT);
    // Those that pass may be on their way to the upstream still.
    await waitUntil('what passes', () => answers.length >= LIMIT);
    assert.equal(answers.length, LIMIT);
    assert.deepEqual(new Set(statuses), new Set([503]));
    assert.equal(await sluice.stat(`${BREAKERS}.rq_open`), 1);
    assert.equal(await sluice.stat(`${BREAKERS}.remaining_rq`), 0);
    for (const worker of childrenOf(sluice.pid)) process.kill(worker, 'SIGKILL');
    await sluice.waitForStat(`${BREAKERS}.remaining_rq`, (left) => left === LIMIT);
    assert.equal(await sluice.stat(`${BREAKERS}.rq_open`), 0);
    for (const answer of answers) answer();
    await Promise.all(asked);
  });
});
