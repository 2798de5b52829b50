import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { recordsIn } from '../../../scripts/check-records.ts';

describe('the check for plain objects as dictionaries', () => {
  const found: readonly string[] = [
    'const a: Record<string, number> = {};',
    'type B = Readonly<Record< string | number, unknown>>;',
    'interface C { readonly [name: string]: unknown }',
    'const d = Object.fromEntries(pairs);',
    'const e = Object.assign({}, ...levels);',
    'return name in table;',
    'if (name in table) return;',
  ];
  for (const source of found) {
    it(`finds ${source}`, () => assert.deepEqual(recordsIn(source), [1]));
  }

  const passed: readonly string[] = [
    "const a: Record<'x' | 'y', number> = table;",
    '// a Record<string, number> in a comment',
    "const text = 'Record<string, number>';",
    "if ('kind' in value) return;",
    'for (const name in table) use(name);',
    'const g = new Map<string, number>();',
  ];
  for (const source of passed) {
    it(`passes over ${source}`, () => assert.deepEqual(recordsIn(source), []));
  }
});
