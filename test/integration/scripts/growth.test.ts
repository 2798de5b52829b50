/** What a module does to its worker alone: memory without end, and a load that never ends there. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startScriptServer } from '../../support/scripts/script-server.ts';
import { waitUntil } from '../../support/wait.ts';

const GROWING = `
import { defineFilter } from 'sluice/filter';
const kept: unknown[] = [];
export default defineFilter({
  create: () => ({
    onRequestHeaders(headers) {
      // Objects, since buffers are outside of the limited heap.
      if (headers.path === '/grow') for (;;) kept.push(Array.from({ length: 10_000 }, () => kept.length));
    },
  }),
});
`;

/** The thread of the supervisor, in which it is checked, gets past it. */
const WAITING = `
import { isMainThread } from 'node:worker_threads';
import { defineFilter } from 'sluice/filter';
if (isMainThread) await new Promise(() => {});
export default defineFilter({ create: () => ({}) });
`;

describe('a script', () => {
  it('whose memory grows without end has its worker replaced, and the next one serves', async () => {
    await using upstream = await startHttpUpstream();
    await using server = await startScriptServer({
      module: GROWING,
      // The heap's limit comes first.
      fields: { loop_timeout: '60s' },
      upstreamPort: upstream.port,
      run: { env: { NODE_OPTIONS: '--max-old-space-size=64' } },
    });
    await assert.rejects(server.get('/grow'));
    const { sluice } = server;
    await waitUntil('the new worker', () => sluice.stderr().includes('serves again'));
    assert.equal(await sluice.stat('sluice.worker.exits_unasked'), 1);
    assert.equal(await server.stat('disabled'), 0);
    assert.equal((await server.get('/fine')).status, 200);
  });

  it('that a worker never finishes to load fails its requests by the policy, and is counted', async () => {
    await using upstream = await startHttpUpstream();
    await using server = await startScriptServer({
      module: WAITING,
      fields: { load_timeout: '0.3s' },
      upstreamPort: upstream.port,
    });
    assert.equal((await server.get('/')).status, 500);
    assert.ok((await server.stat('load_failures')) >= 1);
    assert.match(server.sluice.stderr(), /not loaded within 300 ms/);
  });
});
