/** Sluice's answers against the recorded ones of Envoy (npm run conformance -- --record). */
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { startSluice } from '../support/programs/sluice.ts';
import { factsOf } from './ask.ts';
import { cases } from './cases/index.ts';
import { readGolden, readIntended } from './golden.ts';

describe('Sluice answers what Envoy answers', () => {
  for (const conformanceCase of cases) {
    it(conformanceCase.title, async () => {
      const reference = readGolden(conformanceCase.name);
      const ours = await factsOf(conformanceCase, (bootstrap) =>
        startSluice({ bootstrap }).then(asServer),
      );
      const intended = readIntended().filter((entry) => entry.case === conformanceCase.name);
      const expected = { ...reference };
      for (const { fact, ours: value } of intended) {
        assert.notDeepEqual(expected[fact], value, `${fact} is no difference any more`);
        expected[fact] = value as readonly string[];
      }
      for (const [label, lines] of Object.entries(expected)) {
        assert.deepEqual(ours[label], lines, label);
      }
    });
  }
});

function asServer(sluice: Awaited<ReturnType<typeof startSluice>>): {
  adminPort: number;
  stop(): Promise<void>;
} {
  return { adminPort: sluice.adminPort, stop: async () => void (await sluice.stop()) };
}
