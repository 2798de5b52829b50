import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { matchesFile } from '../../../../shared/logging/file-pattern.ts';

describe('a pattern for source files', () => {
  const path = 'supervisor/admin/admin-server.ts';
  const cases: readonly [pattern: string, matches: boolean][] = [
    [path, true],
    ['supervisor/admin/admin-server', true],
    ['admin-server', true],
    ['admin-server.ts', true],
    ['admin', false],
    ['admin*', true],
    ['*server*', true],
    ['admin?server', true],
    ['admin-serve?', true],
    ['admin-server??', false],
    ['supervisor/*', true],
    ['*/admin-server', true],
    ['admin/*', false],
    ['*', true],
    ['**', true],
    ['', false],
    ['admin.server', false],
  ];
  for (const [pattern, matches] of cases) {
    it(`'${pattern}' ${matches ? 'means' : 'does not mean'} ${path}`, () => {
      assert.equal(matchesFile(pattern, path), matches);
    });
  }

  it('with many stars is decided quickly', () => {
    assert.equal(matchesFile(`${'*a'.repeat(50)}b`, 'a'.repeat(5000)), false);
  });
});
