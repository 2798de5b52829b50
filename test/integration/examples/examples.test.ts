import { describe, it } from 'node:test';
import { ACCESS } from '../../support/examples/access.ts';
import { CONNECTIONS } from '../../support/examples/connections.ts';
import { HTTP } from '../../support/examples/http.ts';
import { PLANES } from '../../support/examples/planes.ts';
import { TRACING } from '../../support/examples/tracing.ts';
import { askedNow } from '../../support/examples/stage.ts';

describe('an example of Envoy with filters of HTTP', { concurrency: 2 }, () => {
  for (const [folder, ask] of askedNow(HTTP, 'cache', 'lua')) {
    it(`does what it promises: ${folder}`, ask);
  }
});

describe('an example of Envoy that lets requests pass', { concurrency: 2 }, () => {
  for (const [folder, ask] of askedNow(ACCESS, 'cors')) {
    it(`does what it promises: ${folder}`, ask);
  }
});

describe('an example of Envoy about connections', { concurrency: 2 }, () => {
  for (const [folder, ask] of askedNow(CONNECTIONS, 'grpc-bridge', 'tls-inspector')) {
    it(`does what it promises: ${folder}`, ask);
  }
});

describe('an example of Envoy that traces', { concurrency: 2 }, () => {
  for (const [folder, ask] of askedNow(TRACING, 'datadog-tracing')) {
    it(`does what it promises: ${folder}`, ask);
  }
});

describe('an example of Envoy whose resources come later', { concurrency: 2 }, () => {
  for (const [folder, ask] of askedNow(PLANES, 'dynamic-config-fs')) {
    it(`does what it promises: ${folder}`, ask);
  }
});
