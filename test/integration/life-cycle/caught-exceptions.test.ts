/** Exceptions in the whole program, thrown by a module that is loaded before it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, GREETING, httpListener } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { childrenOf } from '../../support/programs/processes.ts';
import { startSluice, type RunOptions, type Sluice } from '../../support/programs/sluice.ts';

import { waitUntil } from '../../support/wait.ts';

/** More than a worker may catch in a minute. */
const TOO_MANY = 22;

/**
 * Comparing a path that begins so with the prefix of a route throws; so does a name of statistics.
 */
const THROWING = `
  const { startsWith, includes } = String.prototype;
  String.prototype.startsWith = function (...given) {
    if (includes.call(this, '/throw-now')) throw new Error('injected');
    return startsWith.apply(this, given);
  };
  process.on('SIGUSR2', () => { throw new Error('injected'); });
`;

async function startThrowing(options: RunOptions = {}): Promise<Sluice> {
  return startSluice({
    throws: true,
    bootstrap: bootstrap({ listeners: [httpListener(GREETING)], clusters: [] }),
    env: { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(THROWING)}` },
    ...options,
  });
}

describe('an exception while a request is handled', () => {
  it('is answered with 500, counted and written down, and the worker goes on', async () => {
    await using sluice = await startThrowing();
    const port = await sluice.listenerPort('web');
    const before = childrenOf(sluice.pid);
    const failed = await fetchOnce({ port, path: '/throw-now' });
    assert.deepEqual([failed.status, failed.headers['connection']], [500, 'close']);
    assert.equal((await fetchOnce({ port })).status, 200);
    assert.equal(await sluice.stat('sluice.worker.exceptions'), 1);
    assert.match(sluice.stderr(), /caught an exception[^]*Error: injected[^]* at /);
    assert.deepEqual(childrenOf(sluice.pid), before);
    for (const gauge of ['downstream_cx_active', 'downstream_rq_active']) {
      await sluice.waitForStat(`http.web.${gauge}`, (value) => value === 0);
    }
  });

  it('replaces the worker when there are too many, while others are answered', async () => {
    await using sluice = await startThrowing({ concurrency: 2 });
    const port = await sluice.listenerPort('web');
    const before = childrenOf(sluice.pid);
    for (let count = 0; count < 2 * TOO_MANY; count++) {
      assert.equal((await fetchOnce({ port, path: '/throw-now' })).status, 500);
    }
    let isReplaced = false;
    const replaced = sluice
      .waitForStat('sluice.worker.restarts', (count) => count >= 1)
      .then(() => (isReplaced = true));
    while (!isReplaced) assert.equal((await fetchOnce({ port })).status, 200);
    await replaced;
    assert.ok((await sluice.stat('sluice.worker.worn_out')) >= 1);
    assert.equal(await sluice.stat('sluice.worker.exits_unasked'), 0);
    assert.notDeepEqual(childrenOf(sluice.pid), before);
  });
});

describe('an exception in the supervisor', () => {
  it('is counted and written down, and the server goes on', async () => {
    await using sluice = await startThrowing();
    await waitUntil('the end of the start', () =>
      sluice.stderr().includes('starting main dispatch loop') ? true : undefined,
    );
    sluice.signal('SIGUSR2');
    await sluice.waitForStat('sluice.main_thread.exceptions', (count) => count === 1);
    assert.match(sluice.stderr(), /caught an exception[^]*Error: injected/);
    const port = await sluice.listenerPort('web');
    assert.equal((await fetchOnce({ port })).status, 200);
    assert.equal((await sluice.stop()).code, 0);
  });
});
