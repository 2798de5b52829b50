import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';

import { optionReference } from '../../../../src/options/option-reference.ts';

it('docs/options.md says what the option table says', () => {
  const path = join(import.meta.dirname, '..', '..', '..', '..', '..', 'docs', 'options.md');
  const advice = 'run node dist/scripts/write-option-reference.js';
  assert.equal(readFileSync(path, 'utf8'), optionReference(), advice);
});
