/**
 * Messages with a oneof unset, an empty source or a missing part: taken or refused as Envoy does
 * (recorded).
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { resolveConfig } from './resolve-text.ts';

interface IncompleteMessage {
  readonly name: string;
  readonly verdict: 'accepted' | 'refused';
  readonly bootstrap: object;
}

const path = '../../../../../test/unit/supervisor/resources/golden/incomplete-messages.json';
const { cases } = JSON.parse(readFileSync(join(import.meta.dirname, path), 'utf8')) as {
  cases: readonly IncompleteMessage[];
};

/** Accepted by Envoy and refused here, by the message that says why. */
const REFUSED_HERE = /not supported yet|needs dns_cache_config|locality_config_specifier/;

describe('messages that are not complete', () => {
  for (const { name, verdict, bootstrap } of cases) {
    it(`${name.slice(0, 120)}: ${verdict}`, async () => {
      const outcome = await resolveConfig(bootstrap);
      const errors = 'problems' in outcome ? outcome.problems : [];
      const refusals = errors.filter(({ severity }) => severity === 'error');
      if (verdict === 'refused') assert.notEqual(refusals.length, 0);
      else {
        const unmeant = refusals.filter(
          ({ message, reference = '' }) => !REFUSED_HERE.test(message + reference),
        );
        assert.deepEqual(unmeant, []);
      }
    });
  }
});
