/**
 * A package that is upgraded under a running server: what it cannot replace, it goes on without.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { childrenOf } from '../../support/programs/processes.ts';
import { makeScratch } from '../../support/scratch.ts';
import { copyProduct } from '../../support/programs/product-copy.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

describe('a server whose files on disk become another build', () => {
  it('goes on with the workers it has, says what to do, and recovers with the files', async () => {
    using scratch = makeScratch();
    const main = copyProduct(scratch.path);
    await using sluice = await startSluice({
      main,
      concurrency: 2,
      bootstrap: bootstrap({
        listeners: [httpListener([{ match: { prefix: '/' }, direct_response: { status: 200 } }])],
      }),
    });
    const stamp = join(dirname(main), '..', 'shared', 'build-stamp.json');
    const original = readFileSync(stamp, 'utf8');
    writeFileSync(stamp, original.replace(/"buildId": "[^"]*"/, '"buildId": "another"'));
    const [victim] = childrenOf(sluice.pid);
    process.kill(victim ?? 0, 'SIGKILL');
    await waitUntil('the refusal', () => sluice.stderr().includes('another build (another)'));
    assert.match(sluice.stderr(), /a hot restart is needed/);
    await sluice.waitForStat('sluice.worker.build_mismatches', (value) => value >= 1);
    await waitUntil('the other worker to help', () => sluice.stderr().includes('accepts for'));
    const port = await sluice.listenerPort('web');
    for (let count = 0; count < 16; count += 1) {
      assert.equal((await fetchOnce({ port })).status, 200);
    }
    writeFileSync(stamp, original);
    await waitUntil('the worker', () => sluice.stderr().includes('serves again'));
  });
});

describe('a build that was moved since its code was compiled', () => {
  it('names lines of source by the tables beside its own files', async () => {
    using scratch = makeScratch();
    const main = copyProduct(scratch.path);
    const folder = dirname(main);
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.files.json'))) {
      const path = join(folder, file);
      writeFileSync(
        path,
        readFileSync(path, 'utf8').replaceAll('server/serve.ts', 'server/moved.ts'),
      );
    }
    await using sluice = await startSluice({ main, bootstrap: bootstrap({}) });
    assert.match(sluice.stderr(), /\[supervisor\/server\/moved\.ts:\d+\] initializing epoch/);
  });
});
