import { describe, it } from 'node:test';
import { PLANES } from '../../support/examples/planes.ts';

describe('an example of Envoy whose resources come later', { concurrency: 2 }, () => {
  for (const [folder, ask] of Object.entries(PLANES)) it(`does what it promises: ${folder}`, ask);
});
