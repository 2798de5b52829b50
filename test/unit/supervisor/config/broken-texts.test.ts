/** The first line of every mistake in the syntax is what Envoy says of it (recorded). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ConfigError } from '../../../../supervisor/config/config-error.ts';
import type { SourceFormat } from '../../../../supervisor/config/source/source-format.ts';
import { envoyYamlFault } from '../../../../supervisor/config/source/yaml-words/yaml-words.ts';
import { load } from './load.ts';

interface BrokenText {
  readonly name: string;
  readonly format: SourceFormat;
  readonly text: string;
  readonly envoy: string;
  /** What we say instead: most are texts that Envoy reads as something that nobody meant. */
  readonly ours?: string;
}

const path = join(
  import.meta.dirname,
  '../../../../../test/unit/supervisor/config/golden/broken-texts.json',
);
const { texts } = JSON.parse(readFileSync(path, 'utf8')) as { texts: readonly BrokenText[] };

describe('the first line of a mistake in the syntax', () => {
  for (const { name, format, text, envoy, ours } of texts) {
    it(`${format}: ${name}`, async () => {
      const { problems } = await load(text, { format });
      const errors = problems.filter((problem) => problem.severity === 'error');
      const { message } = new ConfigError('config_invalid', errors);
      const [line = ''] = errors.length === 0 ? ['OK'] : message.split('\n');
      assert.equal(line, ours ?? envoy);
      if (ours !== undefined) assert.notEqual(line, envoy, `${name} is no difference any more`);
    });
  }

  it('is found in any text, without an exception', () => {
    const piece = fc.constantFrom(
      ...'abc \n\t-?:,[]{}#&*!|>\'"%@`~0\\x.'.split(''),
      '\n  ',
      '---\n',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const line = envoyYamlFault(pieces.join(''));
        if (line !== undefined) assert.match(line, /^yaml-cpp: error at line \d+, column \d+: ./);
      }),
      { numRuns: 3000 },
    );
  });

  it('is found in the time of one reading', () => {
    const deep = '{'.repeat(100_000);
    const wide = `a: [${'{b: [c]}, '.repeat(200_000)}`;
    for (const text of [deep, wide, `${'- '.repeat(50_000)}x`, `? ${'a: '.repeat(90_000)}`]) {
      const start = process.cpuUsage();
      assert.notEqual(envoyYamlFault(text), '');
      const { user } = process.cpuUsage(start);
      assert.ok(user < 5_000_000, `${text.slice(0, 10)}: ${user} us`);
    }
  });
});
