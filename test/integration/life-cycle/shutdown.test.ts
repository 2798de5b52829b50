/** How a server ends: on signals, on command, and when a part of it is killed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GREETING, bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { childrenOf, isAlive } from '../../support/programs/processes.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const direct = bootstrap({
  listeners: [httpListener(GREETING)],
});

// They wait for limits, so they wait together.
describe('the end of a server', { concurrency: 2 }, () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`is clean on ${signal} to the whole process group`, async () => {
      await using sluice = await startSluice({
        bootstrap: direct,
        concurrency: 2,
        detached: true,
      });
      const workers = childrenOf(sluice.pid);
      assert.equal(workers.length, 2);
      process.kill(-sluice.pid, signal);
      assert.deepEqual(await sluice.exited(), { code: 0, signal: null });
      assert.deepEqual(workers.filter(isAlive), []);
      assert.doesNotMatch(sluice.stderr(), /ended unasked/);
    });
  }

  it('is clean on /quitquitquit, although a client holds its connection', async () => {
    await using sluice = await startSluice({ bootstrap: direct, concurrency: 2 });
    const idle = await openRaw(await sluice.listenerPort('web'));
    const answer = await sluice.admin({ path: '/quitquitquit', method: 'POST' });
    assert.equal(answer.status, 200);
    assert.deepEqual(await sluice.exited(), { code: 0, signal: null });
    await idle.closed();
  });

  it('comes at once with a second signal, although a worker does not answer', async () => {
    await using sluice = await startSluice({ bootstrap: direct, concurrency: 2 });
    const workers = childrenOf(sluice.pid);
    process.kill(workers[0] ?? 0, 'SIGSTOP');
    sluice.signal('SIGTERM');
    await waitUntil('the first signal to be seen', () => sluice.stderr().includes('SIGTERM'));
    await new Promise((resolve) => setTimeout(resolve, 150));
    sluice.signal('SIGTERM');
    const { code } = await sluice.exited();
    assert.equal(code, 1);
    await waitUntil('the workers to be gone', () => !workers.some(isAlive));
  });

  it('does not wait for a stuck worker for ever', async () => {
    await using sluice = await startSluice({ bootstrap: direct, concurrency: 2 });
    const workers = childrenOf(sluice.pid);
    process.kill(workers[0] ?? 0, 'SIGSTOP');
    sluice.signal('SIGTERM');
    assert.deepEqual(await sluice.exited(20_000), { code: 0, signal: null });
    assert.deepEqual(workers.filter(isAlive), []);
  });

  it('takes the workers along when the supervisor is killed, even a stopped one', async () => {
    await using sluice = await startSluice({ bootstrap: direct, concurrency: 2 });
    const workers = childrenOf(sluice.pid);
    process.kill(workers[1] ?? 0, 'SIGSTOP');
    sluice.signal('SIGKILL');
    await sluice.exited();
    await waitUntil('the workers to be gone', () => !workers.some(isAlive));
  });

  it('is not caused by SIGHUP or SIGUSR1, whichever process gets them', async () => {
    await using sluice = await startSluice({
      bootstrap: direct,
      concurrency: 2,
      detached: true,
    });
    const port = await sluice.listenerPort('web');
    for (const signal of ['SIGHUP', 'SIGUSR1'] as const) process.kill(-sluice.pid, signal);
    await waitUntil('both signals to be seen', () =>
      /SIGHUP[^]*SIGUSR1|SIGUSR1[^]*SIGHUP/.test(sluice.stderr()),
    );
    assert.equal((await fetchOnce({ port })).status, 200);
    assert.equal(childrenOf(sluice.pid).length, 2);
    assert.doesNotMatch(sluice.stderr(), /ended unasked|Debugger/);
  });
});
