/** A process that hangs, or is killed at an unlucky moment, while epochs change. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { adminAnswers, moreRequests, seen, spawnChild } from '../../support/child-epoch.ts';
import { makeEpochs, type Epochs } from '../../support/epochs.ts';
import { fetchOnce } from '../../support/http-client.ts';
import { startLoad } from '../../support/load.ts';
import { runSluice, type Finished } from '../../support/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

// They wait for limits, so they wait together.
describe('while epochs change', { concurrency: true }, () => {
  it('a child that hangs leaves a parent that serves; the next try names it until it is killed', async () => {
    await using epochs = await makeEpochs({ parentShutdownTime: 600 });
    await epochs.start(0);
    const load = startLoad({ port: epochs.port, restMs: 1 });
    for (const line of ['initializing epoch 1', 'of tcp://', 'phase warming -> initializing']) {
      const child = spawnChild(epochs);
      await seen(child, line);
      child.process.kill('SIGSTOP');
      await moreRequests(load);
      const { code, stderr } = await runEpoch(epochs, 1);
      assert.equal(code, 1);
      assert.match(stderr, new RegExp(`in use by pid ${child.process.pid}$`, 'm'));
      child.process.kill('SIGKILL');
      await once(child.process, 'exit');
      await adminAnswers(epochs);
    }
    const second = await epochs.start(1);
    assert.deepEqual(withoutResets((await load.stop()).failures), []);
    assert.equal(await second.stat('server.hot_restart_generation'), 2);
  });

  it('a parent that hangs is given up by its child, and serves when it wakes', async () => {
    await using epochs = await makeEpochs({ parentShutdownTime: 600 });
    const first = await epochs.start(0);
    first.signal('SIGSTOP');
    const { code, stderr } = await runEpoch(epochs, 1);
    first.signal('SIGCONT');
    assert.equal(code, 1);
    assert.match(stderr, /cannot take over from epoch 0 \(pid \d+\): no answer within 10 s/);
    await adminAnswers(epochs);
    assert.equal((await fetchOnce({ port: epochs.port })).status, 200);
    await epochs.start(1);
  });

  it('a parent that hangs while it drains holds nobody up', async () => {
    await using epochs = await makeEpochs({ parentShutdownTime: 600 });
    const first = await epochs.start(0);
    const second = await epochs.start(1);
    first.signal('SIGSTOP');
    const load = startLoad({ port: epochs.port, restMs: 1 });
    await moreRequests(load);
    const askedMs = performance.now();
    assert.equal((await second.admin('/stats')).status, 200);
    assert.ok(performance.now() - askedMs < 5_000);
    assert.deepEqual((await load.stop()).failures, []);
    first.signal('SIGCONT');
    const third = await epochs.start(2);
    assert.deepEqual(await first.exited(), { code: 0, signal: null });
    assert.equal((await third.stop()).code, 0);
  });

  it('a parent that is killed after it gave its sockets away leaves a child that serves', async () => {
    await using epochs = await makeEpochs({ parentShutdownTime: 600 });
    const first = await epochs.start(0);
    const child = spawnChild(epochs);
    await seen(child, 'of tcp://');
    child.process.kill('SIGSTOP');
    first.process.kill('SIGKILL');
    await first.exited();
    child.process.kill('SIGCONT');
    await seen(child, 'starting main dispatch loop');
    await adminAnswers(epochs);
    assert.equal((await fetchOnce({ port: epochs.port })).status, 200);
    const third = await epochs.start(2);
    assert.equal((await third.stop()).code, 0);
    await waitUntil('the end of the child', () => child.process.exitCode === 0);
  });
});

describe('--skip-hot-restart-on-no-parent', () => {
  const flag = { args: ['--skip-hot-restart-on-no-parent'] };

  it('starts a later epoch where nobody ever ran', async () => {
    await using epochs = await makeEpochs();
    const alone = await epochs.start(1, flag);
    assert.equal(await alone.stat('server.hot_restart_generation'), 1);
    const next = await epochs.start(2, flag);
    assert.equal(await next.stat('server.hot_restart_generation'), 2);
  });

  it('changes nothing where a parent answers, or for the first epoch', async () => {
    await using epochs = await makeEpochs();
    await epochs.start(0, flag);
    const second = await epochs.start(1, flag);
    assert.equal(await second.stat('server.hot_restart_generation'), 2);
  });
});

describe('--skip-hot-restart-parent-stats', () => {
  it('begins every statistic anew, the generation too', async () => {
    await using epochs = await makeEpochs();
    const first = await epochs.start(0);
    await fetchOnce({ port: epochs.port });
    await first.waitForStat('http.web.downstream_rq_total', (value) => value === 1);
    const second = await epochs.start(1, { args: ['--skip-hot-restart-parent-stats'] });
    assert.equal((await first.exited()).code, 0);
    assert.equal(await second.stat('http.web.downstream_rq_total'), 0);
    assert.equal(await second.stat('server.hot_restart_generation'), 1);
    assert.equal(await second.stat('server.hot_restart_epoch'), 1);
  });
});

function runEpoch(epochs: Epochs, epoch: number): Promise<Finished> {
  return runSluice(['-c', epochs.scratch.file('bootstrap.json'), ...epochs.args(epoch)], 30_000);
}

/** Connections that a killed child had accepted went with it. */
function withoutResets(failures: readonly string[]): readonly string[] {
  return failures.filter((text) => !/ECONNRESET|socket hang up/.test(text));
}
