import { describe, it } from 'node:test';
import { TRACING } from '../../support/examples/tracing.ts';

describe('an example of Envoy that traces', { concurrency: 2 }, () => {
  for (const [folder, ask] of Object.entries(TRACING)) it(`does what it promises: ${folder}`, ask);
});
