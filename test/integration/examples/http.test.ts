import { describe, it } from 'node:test';
import { HTTP } from '../../support/examples/http.ts';

describe('an example of Envoy with filters of HTTP', { concurrency: 2 }, () => {
  for (const [folder, ask] of Object.entries(HTTP)) it(`does what it promises: ${folder}`, ask);
});
