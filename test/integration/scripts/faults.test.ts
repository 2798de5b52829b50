import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startScriptServer, type ScriptServer } from '../../support/scripts/script-server.ts';
import { waitUntil } from '../../support/wait.ts';

/** Each path is a fault of its own. */
const MODULE = `
import { defineFilter } from 'sluice/filter';

export default defineFilter({
  create: () => ({
    async onRequestHeaders(headers, stream) {
      switch (headers.path) {
        case '/throw': throw new Error('thrown on purpose');
        case '/never': await new Promise(() => {}); break;
        case '/floating': void Promise.reject(new Error('nobody waits')); break;
        case '/header': headers.set('x-a', 'one\\r\\ntwo'); break;
        case '/answer': return { status: 99 };
        case '/timer':
          stream.after(1, () => { throw new Error('in a timer'); });
          // The stream lasts until that one has thrown.
          await new Promise((resolve) => stream.after(20, resolve));
          break;
        case '/loop': for (;;);
        case '/loop-later': await stream.fetch('up'); for (;;);
      }
      return undefined;
    },
    onResponseHeaders(headers, stream) {
      if (stream.request.path === '/response') throw new Error('at the response');
    },
  }),
});
`;

const FIELDS = { callback_timeout: '0.2s', loop_timeout: '0.5s' };

async function statuses(server: ScriptServer, paths: readonly string[]): Promise<number[]> {
  const answers = await Promise.all(paths.map(async (path) => (await server.get(path)).status));
  return answers;
}

const FAULTS = ['/throw', '/never', '/header', '/answer', '/response'];
const HARMLESS = ['/fine', '/floating', '/timer'];

describe('a script that fails', () => {
  it('fails its own requests, or lets them pass, by its policy; others go on', async () => {
    await using upstream = await startHttpUpstream();
    const start = async (policy: string): Promise<ScriptServer> =>
      await startScriptServer({
        module: MODULE,
        fields: { ...FIELDS, failure_policy: policy },
        upstreamPort: upstream.port,
        run: { throws: true },
      });
    await using closed = await start('FAIL_CLOSED');
    assert.deepEqual(await statuses(closed, FAULTS), [500, 500, 500, 500, 500]);
    assert.deepEqual(await statuses(closed, HARMLESS), [200, 200, 200]);
    assert.equal(await closed.stat('failed_closed'), 5);
    assert.equal(await closed.stat('timeouts'), 1);
    await closed.sluice.waitForStat('http.web.script.mine.errors', (count) => count === 6);
    assert.match(closed.sluice.stderr(), /Error: thrown on purpose\\n +at .*filter\.ts:8:\d+\)/);
    await using open = await start('FAIL_OPEN');
    assert.deepEqual(await statuses(open, FAULTS), [200, 200, 200, 200, 200]);
    assert.equal(await open.stat('failed_open'), 5);
  });

  for (const path of ['/loop', '/loop-later']) {
    it(`that holds a worker (${path}) has it replaced, and is switched off in all workers`, async () => {
      await using upstream = await startHttpUpstream();
      await using server = await startScriptServer({
        module: MODULE,
        fields: { ...FIELDS, failure_policy: 'FAIL_OPEN' },
        upstreamPort: upstream.port,
        run: { concurrency: 2 },
      });
      await assert.rejects(server.get(path));
      const { sluice } = server;
      await waitUntil('the new worker', () => sluice.stderr().includes('serves again'));
      assert.match(sluice.stderr(), /was held for \d+ ms by the script .*filter\.ts/);
      await sluice.waitForStat('http.web.script.mine.disabled', (workers) => workers === 2);
      // It would throw.
      assert.equal((await server.get('/throw')).status, 200);
      assert.ok((await server.stat('failed_open')) >= 1);
    });
  }
});
