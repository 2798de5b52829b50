import { describe, it } from 'node:test';
import { CONNECTIONS } from '../../support/examples/connections.ts';

describe('an example of Envoy about connections', { concurrency: 2 }, () => {
  for (const [folder, ask] of Object.entries(CONNECTIONS))
    it(`does what it promises: ${folder}`, ask);
});
