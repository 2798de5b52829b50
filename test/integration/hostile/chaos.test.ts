import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runChaos } from '../../support/programs/chaos.ts';

const DURATION_MS = 3_000;
const SEED = 9;

describe('hosts that fail at random while workers are killed', () => {
  it('make no request wait too long, are known for what they are, and leave nothing behind', async () => {
    const result = await runChaos(DURATION_MS, SEED);
    assert.ok(result.good > result.requests / 2, `${result.good} good of ${result.requests}`);
    assert.deepEqual(result.late, []);
    assert.deepEqual(result.left, []);
    assert.deepEqual(result.leaks, []);
    assert.ok(result.learntMs !== undefined, 'the truth was never known');
  });
});
