/** A process that hangs, or is killed at an unlucky moment, while epochs change. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import {
  adminAnswers,
  CHILD_PHASES,
  moreRequests,
  seen,
  spawnChild,
  withoutResets,
} from '../../support/programs/child-epoch.ts';
import { makeEpochs, type Epochs } from '../../support/programs/epochs.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startLoad } from '../../support/peers/load.ts';
import { runSluice, type Finished, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

// They wait for limits, so they wait together.
describe('while epochs change', { concurrency: true }, () => {
  it('a child that hangs and is killed at any phase leaves a parent that serves; the next try names it until then', async () => {
    await using epochs = await makeEpochs({ parentShutdownTime: 600 });
    const first = await epochs.start(0);
    for (const { phase, line, accepts } of CHILD_PHASES) {
      const load = startLoad({ port: epochs.port, restMs: 24 });
      const child = spawnChild(epochs);
      await seen(child, line);
      child.process.kill('SIGSTOP');
      const [{ code, stderr }] = await Promise.all([runEpoch(epochs, 1), moreRequests(load)]);
      assert.equal(code, 1);
      assert.match(stderr, new RegExp(`in use by pid ${child.process.pid}$`, 'm'));
      child.process.kill('SIGKILL');
      await once(child.process, 'exit');
      await adminAnswers(epochs);
      await waitForPhase(first, 'LIVE');
      await moreRequests(load);
      const { failures } = await load.stop();
      assert.deepEqual(accepts ? withoutResets(failures) : failures, [], phase);
    }
    const second = await epochs.start(1);
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

  it('a parent that hangs while its child starts, and again while it drains, holds nobody up', async () => {
    await using epochs = await makeEpochs({ parentShutdownTime: 600 });
    const first = await epochs.start(0);
    const load = startLoad({ port: epochs.port, restMs: 24 });
    const child = spawnChild(epochs);
    await seen(child, 'warming -> initializing');
    first.signal('SIGSTOP');
    await seen(child, 'starting main dispatch loop');
    await moreRequests(load);
    first.signal('SIGCONT');
    await waitUntil('the drain', () => first.stderr().includes('is live; draining'));
    first.signal('SIGSTOP');
    await moreRequests(load);
    const askedMs = performance.now();
    assert.equal((await fetchOnce({ port: epochs.adminPort, path: '/stats' })).status, 200);
    // Less than what a parent without an answer is waited for.
    assert.ok(performance.now() - askedMs < 9_000);
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

describe('--skip-hot-restart-on-no-parent', { concurrency: true }, () => {
  const flag = { args: ['--skip-hot-restart-on-no-parent'] };

  it('starts a later epoch where nobody ever ran', async () => {
    await using epochs = await makeEpochs();
    const alone = await epochs.start(1, flag);
    assert.equal(await alone.stat('server.hot_restart_generation'), 1);
    const next = await epochs.start(2, flag);
    assert.equal(await next.stat('server.hot_restart_generation'), 2);
  });

  it('changes nothing where a parent answers, or for the first epoch: counters go on, histograms begin again', async () => {
    await using epochs = await makeEpochs();
    const first = await epochs.start(0, flag);
    await fetchOnce({ port: epochs.port });
    await first.waitForStat('http.web.downstream_rq_2xx', (value) => value === 1);
    const second = await epochs.start(1, flag);
    assert.equal(await second.stat('server.hot_restart_generation'), 2);
    assert.equal(await second.stat('http.web.downstream_rq_2xx'), 1);
    // Whatever the parent has recorded: its protocol carries counters and gauges.
    const time = await second.admin('/stats?filter=^http.web.downstream_rq_time$');
    assert.equal(time.body, 'http.web.downstream_rq_time: No recorded values\n');
  });
});

describe('--skip-hot-restart-parent-stats', () => {
  it('begins every statistic again, the generation too', async () => {
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
  return runSluice(['-c', epochs.scratch.file('bootstrap.json'), ...epochs.args(epoch)]);
}

async function waitForPhase(sluice: Sluice, state: string): Promise<void> {
  await waitUntil(`state ${state}`, async () => {
    const { body } = await sluice.admin('/server_info');
    return (JSON.parse(body) as { state: string }).state === state;
  });
}
