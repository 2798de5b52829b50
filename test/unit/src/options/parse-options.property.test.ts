import assert from 'node:assert/strict';
import { it } from 'node:test';

import fc from 'fast-check';

import { flagOf } from '../../../../src/options/option-spec.ts';
import { optionEntries } from '../../../../src/options/option-table.ts';
import { parseOptions } from '../../../../src/options/parse-options.ts';

const context = {
  program: 'sluice',
  version: 'v',
  hotRestartVersion: '11.104',
  host: { hardwareThreads: () => 2, assignedCpus: () => 1 },
};

const word = fc.oneof(
  fc.constantFrom(...optionEntries.map(([key]) => flagOf(key))),
  fc.constantFrom('-c', '-l', '--', '-', '', '0', '7', '4294967295', 'info', 'serve', 'a:b'),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.string({ maxLength: 8 }).map((text) => `--${text}`),
  fc.string({ maxLength: 4 }).map((text) => `--concurrency=${text}`),
);

it('any words give options, or a text and an exit code', () => {
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), (argv) => {
      const parsed = parseOptions(argv, context);
      if (parsed.kind === 'run') {
        assert.ok(parsed.options.concurrency >= 1);
        assert.deepEqual(structuredClone(parsed.options), parsed.options);
      } else {
        assert.ok(parsed.text.length > 0);
        assert.ok(parsed.exitCode === 0 || /^(error: |PARSE ERROR: )/.test(parsed.text));
      }
    }),
    { numRuns: 500, seed: 4 },
  );
});
