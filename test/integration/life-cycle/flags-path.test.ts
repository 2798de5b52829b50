/** `flags_path`: the file `drain` in that folder. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { ADMIN, startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

for (const isFlagged of [true, false]) {
  it(`a server ${isFlagged ? 'with' : 'without'} the file drain is ${isFlagged ? 'not ' : ''}ready`, async () => {
    using scratch = makeScratch();
    const flags = scratch.file('flags');
    mkdirSync(flags);
    if (isFlagged) writeFileSync(join(flags, 'drain'), '');
    await using sluice = await startSluice({
      bootstrap: { admin: ADMIN, flags_path: flags },
      isReady: !isFlagged,
    });
    const ready = await sluice.admin('/ready');
    assert.deepEqual([ready.status, ready.body], isFlagged ? [503, 'DRAINING\n'] : [200, 'LIVE\n']);
    await sluice.admin({ method: 'POST', path: '/healthcheck/ok' });
    assert.equal((await sluice.admin('/ready')).status, 200);
  });
}
