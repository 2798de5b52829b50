/** Where restarters run: as PID 1 of a container, and programs of others around `sluice`. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { makeEpochs } from '../../support/programs/epochs.ts';
import { startLoad } from '../../support/peers/load.ts';
import { childrenOf } from '../../support/programs/processes.ts';
import {
  epochTexts,
  runRestarter,
  startRestarter,
  type RunningRestarter,
} from '../../support/programs/restarter.ts';
import { MAIN } from '../../support/programs/sluice.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { waitUntil } from '../../support/wait.ts';

const UNSHARE = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];
const [unshare = '', ...namespace] = UNSHARE;
const mayUnshare = spawnSync(unshare, [...namespace, 'true']).status === 0;
const hasPython = spawnSync('python3', ['--version']).status === 0;
const GUIDE = join(import.meta.dirname, '../../../../docs/migrate.md');
const OWN = join(import.meta.dirname, '../../../../test/support/programs/epoch-restarter.py');

describe('sluice-restarter as PID 1', () => {
  const skip = mayUnshare ? false : 'no process namespace may be made here';
  it('takes the exit status of orphans, and of its epochs all the same', { skip }, async () => {
    await using epochs = await makeEpochs();
    epochs.writeBootstrap();
    const program = epochs.scratch.file('program');
    const marker = epochs.scratch.file('orphan');
    // The subshell ends first, so that what it started becomes a child of PID 1, and then a zombie.
    const parent = 'read -r pid name state parent rest < /proc/self/stat; echo $parent';
    const orphan = `(sh -c 'sleep 0.2; ${parent} > ${marker}' &)`;
    const start = `exec ${process.execPath} ${MAIN} "$@"`;
    writeFileSync(program, `#!/bin/sh\n${orphan}\n${start}\n`, { mode: 0o755 });
    await using restarter = startRestarter(epochs, {
      before: UNSHARE,
      words: ['--program', program],
    });
    await restarter.saw('epoch 0 is live');
    await waitUntil('the orphan', () => existsSync(marker) && readFileSync(marker).length > 0);
    assert.equal(readFileSync(marker, 'utf8'), '1\n');
    const [init = 0] = childrenOf(restarter.process.pid ?? 0);
    await waitUntil('no zombie', () => childrenOf(init).length === 1);
    process.kill(init, 'SIGHUP');
    await restarter.saw('epoch 1 is live');
    await waitUntil('the end of epoch 0', () => childrenOf(init).length === 1);
    process.kill(init, 'SIGTERM');
    assert.deepEqual(await once(restarter.process, 'exit'), [0, null]);
  });
});

describe('a restarter in Python', () => {
  const skip = hasPython ? false : 'there is no python3';
  it('drives sluice unchanged', { skip }, async () => {
    await using epochs = await makeEpochs();
    epochs.writeBootstrap();
    const script = epochs.scratch.file('start.sh');
    const log = epochs.scratch.file('server.log');
    const words = [...epochTexts(epochs), '--log-path', log].join(' ');
    // The guide's script, with the program, the file and the times of this test.
    const guided = guideScript()
      .replace('exec sluice -c /etc/envoy/envoy.yaml', `exec ${process.execPath} ${MAIN} ${words}`)
      .replace(' --drain-time-s 45 --parent-shutdown-time-s 60', '');
    writeFileSync(script, guided, { mode: 0o755 });
    // Envoy's own script behaves the same; it may be named here.
    const program = process.env['HOT_RESTARTER'] ?? OWN;
    await using restarter = runRestarter(['python3', program, script]);
    await live(epochs.adminPort, 0);
    const load = startLoad({ port: epochs.port, restMs: 24 });
    for (const epoch of [1, 2]) {
      restarter.process.kill('SIGHUP');
      await live(epochs.adminPort, epoch);
      // It passes on what it gets to the epochs that run.
      restarter.process.kill('SIGUSR1');
      await waitUntil('the end of the epoch before', () => serverCount(restarter) === 1);
    }
    assert.deepEqual((await load.stop()).failures, []);
    assert.match(readFileSync(log, 'utf8'), /caught SIGUSR1/);
    restarter.process.kill('SIGTERM');
    assert.deepEqual(await once(restarter.process, 'exit'), [0, null]);
  });
});

/** What docs/migrate.md has hot-restarter.py start. */
function guideScript(): string {
  const text = readFileSync(GUIDE, 'utf8');
  const script = /```sh\n(#!\/bin\/sh\n[^]*?)```/.exec(text)?.[1] ?? '';
  assert.match(script, /^exec sluice -c .* --restart-epoch "\$RESTART_EPOCH" /m);
  return script;
}

function serverCount(restarter: RunningRestarter): number {
  return childrenOf(restarter.process.pid ?? 0).length;
}

async function live(adminPort: number, epoch: number): Promise<void> {
  await waitUntil(`epoch ${epoch}`, async () => {
    const answer = await fetchOnce({ port: adminPort, path: '/server_info' }).catch(
      () => undefined,
    );
    return answer?.body.includes(`"restart_epoch": ${epoch},`);
  });
}
