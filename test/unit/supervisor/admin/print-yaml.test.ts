import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import type { JsonValue } from '../../../../shared/api/well-known.ts';
import { yamlOf } from '../../../../supervisor/admin/config-dump/print-yaml.ts';
import { printJson } from '../../../../supervisor/admin/json-printer.ts';

function yaml(page: string, pieces = 7): string {
  const cut = Array.from({ length: pieces }, (_, at) =>
    page.slice(
      Math.floor((page.length * at) / pieces),
      Math.floor((page.length * (at + 1)) / pieces),
    ),
  );
  return [...yamlOf(cut)].join('');
}

test('a page as YAML is what the page is as JSON, wherever its pieces end', () => {
  const value = fc.jsonValue({ maxDepth: 5, depthSize: 'small' });
  fc.assert(
    fc.property(value, fc.integer({ min: 1, max: 40 }), (given, pieces) => {
      const page = printJson(given as JsonValue);
      const expected: unknown = JSON.parse(page);
      assert.deepEqual(parse(yaml(page, pieces)), expected, page);
    }),
    { numRuns: 1_000 },
  );
});

test('texts that YAML would read as something else are quoted', () => {
  const words = {
    a: 'yes',
    b: '1',
    c: 'null',
    d: 'a: b',
    e: '# no',
    f: '',
    g: '0x1',
    h: 'plain text',
  };
  const text = yaml(printJson(words));
  assert.deepEqual(parse(text, { version: '1.1' }), words);
  assert.match(text, /^h: plain text$/m);
});
