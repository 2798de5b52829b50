import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import { isAllowed, licenceProblems } from '../../../scripts/check-licences.ts';

describe('a licence expression', () => {
  const cases: readonly [expression: string, verdict: boolean][] = [
    ['MIT', true],
    ['0BSD', true],
    ['GPL-3.0-only', false],
    ['(MIT OR GPL-2.0-only)', true],
    ['MIT AND Apache-2.0', true],
    ['MIT AND GPL-2.0-only', false],
    ['SEE LICENSE IN LICENSE', false],
  ];
  for (const [expression, verdict] of cases) {
    it(`${expression} is ${verdict ? 'allowed' : 'refused'}`, () => {
      assert.equal(isAllowed(expression), verdict);
    });
  }
});

describe('the licence check', () => {
  it('names nested production packages and passes over development packages', () => {
    const root = mkdtempSync(join(tmpdir(), 'sluice-licences-'));
    const nested = join('node_modules', 'good', 'node_modules', 'bad');
    mkdirSync(join(root, nested), { recursive: true });
    writeFileSync(join(root, nested, 'package.json'), '{"license": "GPL-3.0-only"}');
    writeFileSync(
      join(root, 'package-lock.json'),
      JSON.stringify({
        packages: {
          '': {},
          'node_modules/good': { license: 'MIT' },
          [nested]: { license: 'MIT' },
          'node_modules/silent': {},
          'node_modules/elsewhere': { optional: true },
          'node_modules/tool': { dev: true, license: 'GPL-3.0-only' },
        },
      }),
    );
    assert.deepEqual(licenceProblems(root), ['bad: GPL-3.0-only', 'silent: no licence stated']);
    rmSync(root, { recursive: true });
  });
});
