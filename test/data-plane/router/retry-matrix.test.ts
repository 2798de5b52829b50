import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  answerByPath,
  recordedRetries,
  retryBootstrap,
  runRetries,
} from '../../support/parts/retry-matrix.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';

describe('conditions of retries', () => {
  it('try the answers again that Envoy tries again, for each value of retry_on', async () => {
    await using upstream = await startHttpUpstream(answerByPath);
    await using sluice = await startSluice({
      bootstrap: retryBootstrap(upstream.port),
      concurrency: 1,
    });
    const matrix = await runRetries(await sluice.listenerPort('web'));
    assert.deepEqual(matrix, recordedRetries());
  });
});
