/** A hot restart that fails hurts nobody. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  adminAnswers,
  moreRequests,
  seen,
  spawnChild,
} from '../../support/programs/child-epoch.ts';
import { makeEpochs } from '../../support/programs/epochs.ts';
import { startLoad } from '../../support/peers/load.ts';
import { runSluice, startSluice } from '../../support/programs/sluice.ts';

describe('a child that dies', () => {
  it('because its configuration is bad was never noticed by the parent', async () => {
    await using epochs = await makeEpochs();
    const first = await epochs.start(0);
    const bad = epochs.scratch.file('bad.json');
    writeFileSync(bad, '{"static_resources": {"listeners": [{"nam": 1}]}}');
    const { code, stderr } = await runSluice(['-c', bad, ...epochs.args(1)]);
    assert.equal(code, 1);
    assert.match(stderr, /bad\.json/);
    assert.doesNotMatch(first.stderr(), /next epoch/);
    await adminAnswers(epochs);
  });
});

describe('a parent that dies', { concurrency: true }, () => {
  it('while it drains leaves a child that serves', async () => {
    await using epochs = await makeEpochs({ parentShutdownTime: 600 });
    const first = await epochs.start(0);
    const second = await epochs.start(1);
    first.process.kill('SIGKILL');
    await first.exited();
    const load = startLoad({ port: epochs.port, restMs: 24 });
    await second.waitForStat('server.parent_connections', (value) => value === 0);
    await moreRequests(load);
    assert.deepEqual((await load.stop()).failures, []);
    const third = await epochs.start(2);
    assert.equal((await third.stop()).code, 0);
  });

  it('before the child starts refuses it with a reason, unless that is allowed', async () => {
    await using epochs = await makeEpochs();
    const first = await epochs.start(0);
    first.process.kill('SIGKILL');
    await first.exited();
    const path = epochs.scratch.file('bootstrap.json');
    const { code, stderr } = await runSluice(['-c', path, ...epochs.args(1)]);
    assert.equal(code, 1);
    assert.match(stderr, /cannot start epoch 1: no epoch 0 with base id \d+ answers at @/);
    const second = await epochs.start(1, { args: ['--skip-hot-restart-on-no-parent'] });
    assert.equal((await second.stop()).code, 0);
  });
});

describe('a refusal', { concurrency: true }, () => {
  it('of a base id in use names the process that holds it', async () => {
    await using epochs = await makeEpochs();
    const first = await epochs.start(0);
    const path = epochs.scratch.file('bootstrap.json');
    const { code, stderr } = await runSluice(['-c', path, ...epochs.args(0)]);
    assert.equal(code, 1);
    const base = epochs.baseId * 10;
    const words = `unable to bind domain socket with base_id=${base}, id=0, errno=98`;
    assert.ok(stderr.includes(words), stderr);
    assert.match(stderr, new RegExp(`in use by pid ${first.pid}$`, 'm'));
    assert.equal((await first.admin('/ready')).status, 200);
  });

  it('of a base id that nobody has says so', async () => {
    await using epochs = await makeEpochs();
    const path = epochs.scratch.file('empty.yaml');
    writeFileSync(path, '{}');
    const { code, stderr } = await runSluice(['-c', path, ...epochs.args(1)]);
    assert.equal(code, 1);
    assert.match(stderr, /cannot open shared memory region .*no server runs with --base-id/);
  });

  it('meets one of two children that start at once', async () => {
    await using epochs = await makeEpochs();
    await epochs.start(0);
    const children = [spawnChild(epochs), spawnChild(epochs)];
    const [loser] = await Promise.race(
      children.map(async (child) => {
        const [code] = (await once(child.process, 'exit')) as [number];
        return [child, code] as const;
      }),
    );
    assert.match(loser.log(), /unable to bind domain socket/);
    const winner = children.find((child) => child !== loser);
    assert.ok(winner !== undefined);
    await seen(winner, 'starting main dispatch loop');
    winner.process.kill('SIGTERM');
    await once(winner.process, 'exit');
  });
});

describe('a dynamic base id', () => {
  it('is written to its file and used by the next epoch', async () => {
    await using epochs = await makeEpochs();
    const path = epochs.scratch.file('base-id');
    await using first = await startSluice({
      bootstrap: {},
      ...epochs.options(0),
      args: ['--use-dynamic-base-id', '--base-id-path', path, '--parent-shutdown-time-s', '0'],
    });
    const baseId = readFileSync(path, 'utf8');
    assert.match(baseId, /^\d+$/);
    await using second = await startSluice({
      ...epochs.options(1),
      args: ['--base-id', baseId, '--restart-epoch', '1', '--parent-shutdown-time-s', '0'],
    });
    assert.equal((await first.exited()).code, 0);
    assert.equal((await second.admin('/ready')).status, 200);
  });
});
