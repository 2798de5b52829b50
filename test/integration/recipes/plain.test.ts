import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { recipeNames } from '../../../src/commands/example/recipes.ts';
import { GUARDED } from '../../support/recipes/guarded.ts';
import { PLAIN } from '../../support/recipes/plain.ts';

describe('a recipe', () => {
  it('has a test that asks it', () => {
    const asked = [...Object.keys(PLAIN), ...Object.keys(GUARDED)];
    assert.deepEqual(asked.sort(), [...recipeNames()].sort());
  });

  for (const [name, ask] of Object.entries(PLAIN)) it(`serves what it promises: ${name}`, ask);
});
