/** Who connects while a server ends is answered or refused, never accepted and then reset. */
import assert from 'node:assert/strict';
import type net from 'node:net';
import { describe, it } from 'node:test';
import { connectAgainAndAgain } from '../../support/programs/connecting.ts';
import { makeEpochs, okBootstrap } from '../../support/programs/epochs.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';
import { makeScratch } from '../../support/scratch.ts';

const ENDS: readonly (readonly [string, (sluice: Sluice) => unknown])[] = [
  ['SIGTERM', (sluice) => sluice.signal('SIGTERM')],
  ['/quitquitquit', (sluice) => sluice.admin({ path: '/quitquitquit', method: 'POST' })],
  [
    '/drain_listeners and SIGTERM',
    async (sluice) => {
      await sluice.admin({ path: '/drain_listeners', method: 'POST' });
      sluice.signal('SIGTERM');
    },
  ],
];

async function outcomesOf(
  target: net.NetConnectOpts,
  sluice: Sluice,
  end: (sluice: Sluice) => unknown,
): Promise<void> {
  const clients = connectAgainAndAgain(target);
  await waitUntil('the first answers', () => clients.answered() > 100);
  await end(sluice);
  const { answered, lost, refused } = await clients.done;
  assert.equal((await sluice.exited()).code, 0);
  assert.deepEqual(lost, []);
  assert.ok(answered > 100 && refused > 0);
}

describe('clients that connect while a server ends', { concurrency: true }, () => {
  for (const [name, end] of ENDS) {
    for (const kind of ['reuse_port', 'shared', 'unix'] as const) {
      it(`by ${name} are answered or refused (${kind})`, async () => {
        using scratch = makeScratch();
        const path = scratch.file('listener.sock');
        const listener =
          kind === 'unix'
            ? { address: { pipe: { path } } }
            : { enable_reuse_port: kind === 'reuse_port' };
        const bootstrap = okBootstrap(0, 0, listener);
        await using sluice = await startSluice({ bootstrap, concurrency: 2, scratch });
        const target =
          kind === 'unix' ? { path } : { host: '127.0.0.1', port: await portOf(sluice) };
        await outcomesOf(target, sluice, end);
      });
    }
  }
});

async function portOf(sluice: Sluice): Promise<number> {
  const { body } = await sluice.admin('/listeners');
  return Number(/:(\d+)$/m.exec(body.trim())?.[1]);
}

describe('clients that connect during a hot restart', () => {
  it('are all answered: what waits in a socket of the parent is the child’s', async () => {
    await using epochs = await makeEpochs();
    const first = await epochs.start(0);
    const clients = connectAgainAndAgain({ host: '127.0.0.1', port: epochs.port });
    const second = await epochs.start(1);
    assert.equal((await first.exited()).code, 0);
    const outcomes = await clients.stop();
    assert.deepEqual(outcomes.lost, []);
    assert.equal(outcomes.refused, 0);
    assert.equal((await second.stop()).code, 0);
  });
});
