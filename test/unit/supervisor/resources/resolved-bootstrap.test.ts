import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dictionary } from '../../../../shared/text/dictionary.ts';
import type { ResolvedBootstrap } from '../../../../supervisor/resolved/resolved-bootstrap.ts';
import { resolveConfig } from './resolve-text.ts';

async function resolved(bootstrap: object): Promise<ResolvedBootstrap> {
  const outcome = await resolveConfig(bootstrap);
  assert.equal(outcome.kind, 'resolved', JSON.stringify(outcome));
  const { bootstrap: result, problems } = outcome.kind === 'resolved' ? outcome.resolution : {};
  assert.ok(result, JSON.stringify(problems));
  return result;
}

describe('a resolved bootstrap', () => {
  it('is complete when it is empty', async () => {
    const { stats, ...rest } = await resolved({});
    assert.deepEqual(
      [stats.flushIntervalMs, rest],
      [
        5_000,
        {
          node: { id: '', cluster: '', zone: '', metadata: dictionary() },
          clusters: [],
          adminPages: [],
          listeners: [],
          runtimeLayers: [],
          workerKillTimeoutMs: 30_000,
          dynamic: {},
          maxRegexProgramSize: 100,
          disabledExtensions: new Set(),
        },
      ],
    );
  });
});
