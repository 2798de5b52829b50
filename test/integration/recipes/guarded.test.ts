import { describe, it } from 'node:test';
import { GUARDED } from '../../support/recipes/guarded.ts';

describe('a recipe with TLS, credentials, limits or another protocol', () => {
  for (const [name, ask] of Object.entries(GUARDED)) it(`serves what it promises: ${name}`, ask);
});
