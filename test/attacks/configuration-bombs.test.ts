/**
 * Configurations that are small and mean much, or are large and mean nothing: read or refused, and
 * soon.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { runPipeline } from '../../supervisor/config/pipeline.ts';
import { sourceFormat } from '../../supervisor/config/source/source-format.ts';
import { attackRuns } from '../support/attack.ts';
import { makeScratch } from '../support/scratch.ts';
import { runSluice } from '../support/programs/sluice.ts';

const MANY = attackRuns(40_000, 1_000_000);
const DEEP = attackRuns(20_000, 100_000);
/** The processor time to read one. */
const READ_MS = attackRuns(3000, 120_000);
const LIMIT_MS = attackRuns(30_000, 300_000);
const BOOTSTRAP = 'envoy.config.bootstrap.v3.Bootstrap';

const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('');

const BOMBS: Readonly<Record<string, string>> = {
  'laughs.yaml': `a0: &a0 [x, x]\n${lines(40, (at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]\n`)}`,
  'merges.yaml': `a0: &a0 {k: v}\n${lines(40, (at) => `a${at + 1}: &a${at + 1} {<<: [*a${at}, *a${at}]}\n`)}`,
  'flow.yaml': `node: {metadata: {a: ${'['.repeat(DEEP)}${']'.repeat(DEEP)}}}`,
  'sequences.yaml': `node:\n  metadata:\n    a: ${'- '.repeat(DEEP)}1`,
  'lists.json': `{"node":{"metadata":{"a":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}}}`,
  'objects.json': `{"node":{"metadata":${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}}}`,
  'messages.pb_text': `node { metadata { fields { key: 'a' value { ${'list_value { values { '.repeat(DEEP)}${'}}'.repeat(DEEP)}}}}}`,
  'groups.pb': '\x0b'.repeat(MANY),
  'unknown.json': `{${lines(MANY, (at) => `"k${at}":1,`)}"node":{}}`,
  'unknown.yaml': lines(MANY, (at) => `k${at}: 1\n`),
  'repeated.json': `{${lines(MANY, () => '"node":{"id":"a"},')}"node":{}}`,
  'repeated.yaml': lines(MANY, () => 'node: {id: a}\n'),
  'escapes.json': `{"node":{"id":"${String.raw`\u0041`.repeat(MANY)}"},"x":1}`,
};

/** Read as Envoy reads them, with warnings. */
const TAKEN = new Set(['repeated.json', 'repeated.yaml']);

describe('a configuration bomb', () => {
  for (const [name, text] of Object.entries(BOMBS)) {
    it(`of ${name} is ${TAKEN.has(name) ? 'taken' : 'refused'} with no more problems than anybody reads`, async () => {
      const content = Buffer.from(text, 'latin1');
      const source = { name, format: sourceFormat(name), content };
      const begun = process.cpuUsage();
      const { problems } = await runPipeline(BOOTSTRAP, [source], { unknownFields: 'refuse' });
      const { user, system } = process.cpuUsage(begun);
      assert.ok((user + system) / 1000 < READ_MS, `${(user + system) / 1000} ms`);
      assert.equal(
        problems.some(({ severity }) => severity === 'error'),
        !TAKEN.has(name),
      );
      assert.ok(problems.length <= 2000, String(problems.length));
    });
  }

  it('keeps its only error behind any number of warnings', async () => {
    const content = Buffer.from(`${lines(3000, (at) => `k${at}: 1\n`)}node: {id: [1]}\n`);
    const source = { name: 'x.yaml', format: 'yaml', content } as const;
    const result = await runPipeline(BOOTSTRAP, [source], { unknownFields: 'warn' });
    assert.equal(result.unknownFieldCount, 3000);
    assert.ok(result.problems.some(({ severity }) => severity === 'error'));
  });

  it('ends a start in time', async () => {
    using scratch = makeScratch();
    const path = scratch.file('unknown.json');
    writeFileSync(path, BOMBS['unknown.json'] ?? '');
    const { code, stderr } = await runSluice(['--mode', 'validate', '-c', path], LIMIT_MS);
    assert.equal(code, 1);
    assert.match(stderr, /no such field: 'k0'/);
  });
});
