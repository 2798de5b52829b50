import { describe, it } from 'node:test';
import { ACCESS } from '../../support/examples/access.ts';

describe('an example of Envoy that lets requests pass', { concurrency: 2 }, () => {
  for (const [folder, ask] of Object.entries(ACCESS)) it(`does what it promises: ${folder}`, ask);
});
