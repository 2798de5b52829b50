import { clusterContext } from '../../../support/parts/balancers.ts';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HeaderMap } from '../../../../workers/stream/header-map.ts';
import type { ResetReason } from '../../../../workers/stream/codec.ts';
import { RetryState } from '../../../../workers/router/retry/retry-state.ts';
import {
  compileRetryPolicy,
  takeRequestRetries,
} from '../../../../workers/routing/retry-policy.ts';
import { UpstreamCluster } from '../../../../workers/upstream/cluster.ts';
import type { RetryPolicy } from '../../../../shared/resources/routes/retry-policy.ts';
import { cluster } from '../../../support/parts/data-plane.ts';

const POLICY: RetryPolicy = {
  retryOn: [],
  numRetries: 1,
  retriableStatusCodes: [410],
  retriableHeaders: [],
  retriableRequestHeaders: [],
  backOffBaseMs: 25,
  backOffMaxMs: 100,
  hostPredicates: [],
  hostSelectionRetryMaxAttempts: 1,
};

function headers(fields: Readonly<Record<string, string>>, status = 0): HeaderMap {
  const map = new HeaderMap();
  map.status = status;
  for (const [name, value] of Object.entries(fields)) map.add(name, value);
  return map;
}

function state(policy: Partial<RetryPolicy>, request: HeaderMap = headers({})): RetryState {
  const retries = takeRequestRetries(compileRetryPolicy({ ...POLICY, ...policy }), request);
  assert.ok(retries);
  const upstream = new UpstreamCluster(cluster('up'), clusterContext());
  return new RetryState(retries, {
    cluster: upstream,
    priority: 'DEFAULT',
    countVirtual: () => undefined,
    random: () => 0.999,
    wallMs: () => 0,
  });
}

describe('retry conditions', () => {
  const responses: readonly (readonly [
    on: string,
    status: number,
    response: Record<string, string>,
    wanted: boolean,
  ])[] = [
    ['5xx', 500, {}, true],
    ['5xx', 599, {}, true],
    ['5xx', 429, {}, false],
    ['5xx', 503, { 'x-envoy-overloaded': 'true' }, true],
    ['5xx', 503, { 'x-envoy-ratelimited': 'true' }, false],
    ['envoy-ratelimited', 429, { 'x-envoy-ratelimited': 'true' }, true],
    ['gateway-error', 500, {}, false],
    ['gateway-error', 502, {}, true],
    ['gateway-error', 504, {}, true],
    ['retriable-4xx', 409, {}, true],
    ['retriable-4xx', 404, {}, false],
    ['retriable-status-codes', 410, {}, true],
    ['retriable-status-codes', 411, {}, false],
    ['connect-failure', 503, {}, false],
    ['cancelled', 200, { 'grpc-status': '1' }, true],
    ['deadline-exceeded', 200, { 'grpc-status': '4' }, true],
    ['resource-exhausted', 200, { 'grpc-status': '8' }, true],
    ['internal', 200, { 'grpc-status': '13' }, true],
    ['unavailable', 200, { 'grpc-status': '14' }, true],
    ['unavailable', 200, { 'grpc-status': '13' }, false],
    ['unavailable', 503, {}, false],
  ];

  for (const [on, status, response, wanted] of responses) {
    it(`${on} ${wanted ? 'wants' : 'does not want'} ${status} ${JSON.stringify(response)} again`, () => {
      assert.equal(state({ retryOn: [on] }).wantsRetryOf(headers(response, status)), wanted);
    });
  }

  const resets: readonly (readonly [on: string, reason: ResetReason, started: boolean, boolean])[] =
    [
      ['reset', 'remote_reset', true, true],
      ['reset', 'overflow', false, false],
      ['5xx', 'connection_termination', true, true],
      ['gateway-error', 'connection_failure', false, true],
      ['connect-failure', 'connection_failure', false, true],
      ['connect-failure', 'connection_timeout', false, true],
      ['connect-failure', 'connection_termination', true, false],
      ['reset-before-request', 'connection_failure', false, true],
      ['reset-before-request', 'connection_termination', true, false],
      ['retriable-4xx', 'remote_reset', true, false],
    ];

  for (const [on, reason, started, wanted] of resets) {
    it(`${on} ${wanted ? 'retries' : 'does not retry'} ${reason}`, () => {
      const verdict = state({ retryOn: [on] }).afterReset(reason, started);
      assert.equal(verdict, wanted ? 'retry' : 'no');
    });
  }
});

describe('headers that ask for retries', () => {
  it('add to the policy and are taken out of the request', () => {
    const request = headers({
      'x-envoy-retry-on': '5xx, retriable-status-codes,retriable-headers',
      'x-envoy-retry-grpc-on': 'unavailable',
      'x-envoy-max-retries': '7',
      'x-envoy-retriable-status-codes': '418, 419,x',
      'x-envoy-retriable-header-names': 'X-Again',
      other: 'stays',
    });
    const retries = takeRequestRetries(undefined, request);
    assert.equal(retries?.retries, 7);
    assert.deepEqual(retries?.statusCodes, [418, 419]);
    assert.deepEqual(request.entries, ['other', 'stays']);
    const asked = state(
      {},
      headers({
        'x-envoy-retry-on': 'retriable-headers',
        'x-envoy-retriable-header-names': 'x-again',
      }),
    );
    assert.equal(asked.wantsRetryOf(headers({ 'x-again': '' }, 200)), true);
  });

  it('mean nothing alone, and cost nothing where there are none', () => {
    const request = headers({ 'x-envoy-max-retries': '3' });
    assert.equal(takeRequestRetries(undefined, request), undefined);
    assert.deepEqual(request.entries, []);
    assert.equal(takeRequestRetries(undefined, headers({ accept: 'x' })), undefined);
  });

  it('do not help where the policy asks for a request header that is not there', () => {
    const match = { kind: 'present', present: true } as const;
    const matcher = { name: 'x-safe', invert: false, treatMissingAsEmpty: false, match };
    const policy = compileRetryPolicy({
      ...POLICY,
      retryOn: ['5xx'],
      retriableRequestHeaders: [matcher],
    });
    assert.equal(takeRequestRetries(policy, headers({ 'x-envoy-retry-on': '5xx' })), undefined);
    assert.ok(takeRequestRetries(policy, headers({ 'x-safe': '1' })));
  });
});

describe('the back-off', () => {
  it('doubles from its base to its maximum', () => {
    const retry = state({ retryOn: ['5xx'], numRetries: 9 });
    assert.deepEqual(
      [0, 1, 2, 3].map(() => retry.takeBackOffMs()),
      [24, 49, 99, 99],
    );
  });
});
