/** The code that V8 compiled, as a run leaves it for the next one. */
import assert from 'node:assert/strict';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { bootstrap, proxyTo } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { copyProduct } from '../../support/programs/product-copy.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

/** The program and the worker have a file each. */
const PARTS = 2;

describe('compiled code that a process leaves at its end', () => {
  it('has what it ran until then, and is read by the next', async () => {
    using scratch = makeScratch();
    await using upstream = await startHttpUpstream();
    const main = copyProduct(scratch.path);
    const started = async (config: object): Promise<Sluice> =>
      await startSluice({ main, bootstrap: config, env: { SLUICE_CODE_CACHE: 'at-exit' } });
    removeCaches(main);
    const idle = await started(bootstrap({}));
    assert.deepEqual(cachesOf(main), [], 'nothing is written before the end');
    await idle.stop();
    const ofIdle = removeCaches(main);
    const serving = await started(proxyTo(upstream.port));
    await fetchFrom(serving);
    await serving.stop();
    const ofServing = cachesOf(main).map((file) => statSync(file).size);
    assert.equal(ofServing.length, PARTS);
    // Both together count: V8 throws code away that it has not run for some collections.
    assert.ok(sum(ofServing) > sum(ofIdle), `${ofServing.join()} and ${ofIdle.join()} idle`);
    await using next = await started(proxyTo(upstream.port));
    await fetchFrom(next);
  });
});

const sum = (sizes: readonly number[]): number => sizes.reduce((one, other) => one + other, 0);

/** Files of the program and of the worker. */
function cachesOf(main: string): readonly string[] {
  const folders = [dirname(main), join(dirname(main), '..', 'workers', 'process')];
  return folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.endsWith('.cache'))
      .map((file) => join(folder, file)),
  );
}

/** Their sizes. */
function removeCaches(main: string): readonly number[] {
  return cachesOf(main).map((file) => {
    const { size } = statSync(file);
    rmSync(file);
    return size;
  });
}

async function fetchFrom(sluice: Sluice): Promise<void> {
  assert.equal((await fetchOnce({ port: await sluice.listenerPort('web') })).status, 200);
}
