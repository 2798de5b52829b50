import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { ClusterRouteAction } from '../../../../shared/resources/routes/route.ts';
import type { RetryPolicy } from '../../../../shared/resources/routes/retry-policy.ts';
import { buildRouteTable } from '../../../../workers/routing/route-table.ts';
import { resolveTimeouts, streamDurationMs } from '../../../../workers/routing/timeouts.ts';
import type { ClusterRoute } from '../../../../workers/stream/route.ts';
import {
  prefix,
  route,
  routeConfiguration,
  toCluster,
  virtualHost,
} from '../../../support/parts/routes.ts';
import { requestHeaders, streamInfo } from '../../../support/parts/stream.ts';

const RETRY: RetryPolicy = {
  retryOn: ['5xx'],
  numRetries: 1,
  perTryTimeoutMs: 2000,
  retriableStatusCodes: [],
  retriableHeaders: [],
  retriableRequestHeaders: [],
  backOffBaseMs: 25,
  backOffMaxMs: 250,
  hostPredicates: [],
  hostSelectionRetryMaxAttempts: 1,
};

const ROUTES = {
  t1: { timeoutMs: 3000 },
  t2: { timeoutMs: 0 },
  t3: { timeoutMs: 7000, retryPolicy: RETRY },
  t4: { timeoutMs: 15_000, streamDuration: { maxMs: 5000, grpcHeaderMaxMs: 4000 } },
  older: { timeoutMs: 9000, maxGrpcTimeout: { maxMs: 4000, offsetMs: 300 } },
} satisfies Record<string, Partial<ClusterRouteAction>>;

function clusterRoute(action: Partial<ClusterRouteAction>): ClusterRoute {
  const table = buildRouteTable(
    routeConfiguration([virtualHost([route(prefix('/'), toCluster(action))])]),
  );
  const headers = requestHeaders();
  const found = table.match(headers, streamInfo(headers));
  assert.ok(found?.kind === 'cluster');
  return found;
}

type Given = readonly (readonly [string, string])[];

function resolved(action: Partial<ClusterRouteAction>, given: Given, respect = false) {
  const headers = requestHeaders('/', given);
  const timeouts = { globalMs: -1, perTryMs: -1, perTryIdleMs: -1, hedges: false };
  const options = { suppressEnvoyHeaders: false, respectExpectedRqTimeout: respect };
  resolveTimeouts(clusterRoute(action), headers, options, timeouts);
  return { ...timeouts, expected: headers.get('x-envoy-expected-rq-timeout-ms'), headers };
}

const GLOBAL = 'x-envoy-upstream-rq-timeout-ms';
const PER_TRY = 'x-envoy-upstream-rq-per-try-timeout-ms';
const EXPECTED = 'x-envoy-expected-rq-timeout-ms';

// Recorded from Envoy 1.40.0: the value that the upstream is told.
describe('request timeouts', () => {
  it('come from the route and are told to the upstream', () => {
    assert.equal(resolved(ROUTES.t1, []).expected, '3000');
    assert.equal(resolved(ROUTES.t2, []).expected, undefined);
    assert.equal(resolved(ROUTES.t3, []).expected, '2000');
    assert.equal(resolved(ROUTES.t4, []).expected, undefined);
    const { globalMs, perTryMs, perTryIdleMs } = resolved(ROUTES.t3, []);
    assert.deepEqual([globalMs, perTryMs, perTryIdleMs], [7000, 2000, 0]);
  });

  it('may be set by the request’s headers', () => {
    const table: readonly (readonly [Partial<ClusterRouteAction>, Given, string | undefined])[] = [
      [ROUTES.t1, [[GLOBAL, '500']], '500'],
      [ROUTES.t4, [[GLOBAL, '500']], '500'],
      [ROUTES.t1, [[GLOBAL, '0']], undefined],
      [ROUTES.t3, [[GLOBAL, '0']], '2000'],
      [ROUTES.t1, [[GLOBAL, 'abc']], '3000'],
      [ROUTES.t1, [[GLOBAL, '-1']], '3000'],
      [ROUTES.t1, [[GLOBAL, '1.5']], '3000'],
      [ROUTES.t1, [[GLOBAL, '50000000']], '50000000'],
      [
        ROUTES.t1,
        [
          [GLOBAL, '500'],
          [PER_TRY, '100'],
        ],
        '100',
      ],
      [ROUTES.t1, [[PER_TRY, '100']], '100'],
      [ROUTES.t3, [[PER_TRY, '50000']], '7000'],
      [ROUTES.t4, [[PER_TRY, '50000']], '50000'],
      [ROUTES.t1, [[EXPECTED, '700']], '3000'],
      [ROUTES.t4, [[EXPECTED, '700']], '700'],
      [
        ROUTES.t3,
        [
          ['x-envoy-hedge-on-per-try-timeout', 'true'],
          [PER_TRY, '100'],
        ],
        '7000',
      ],
    ];
    for (const [action, given, expected] of table) {
      assert.equal(resolved(action, given).expected, expected, JSON.stringify(given));
    }
  });

  it('are taken from the proxy in front where that is configured', () => {
    const { globalMs, expected } = resolved(ROUTES.t1, [[EXPECTED, '700']], true);
    assert.deepEqual([globalMs, expected], [700, '700']);
  });

  it('leave no header behind that asked for them', () => {
    const { headers } = resolved(ROUTES.t1, [
      [GLOBAL, '500'],
      [PER_TRY, 'x'],
    ]);
    assert.equal(headers.has(GLOBAL), false);
    assert.equal(headers.has(PER_TRY), false);
  });
});

describe('the duration of a stream', () => {
  const grpc = (timeout: string): Given => [
    ['content-type', 'application/grpc'],
    ['grpc-timeout', timeout],
  ];

  function duration(action: Partial<ClusterRouteAction>, given: Given) {
    const headers = requestHeaders('/', given);
    return [streamDurationMs(clusterRoute(action), headers), headers.get('grpc-timeout')];
  }

  it('is the route’s, or what a gRPC client asks for within the route’s bounds', () => {
    assert.deepEqual(duration(ROUTES.t1, grpc('1S')), [undefined, '1S']);
    assert.deepEqual(duration(ROUTES.t4, []), [5000, undefined]);
    assert.deepEqual(duration(ROUTES.t4, grpc('1S')), [1000, '1000m']);
    assert.deepEqual(duration(ROUTES.t4, grpc('1H')), [4000, '4000m']);
    assert.deepEqual(duration(ROUTES.t4, [['grpc-timeout', '1S']]), [5000, '1S']);
    assert.deepEqual(duration(ROUTES.t4, grpc('junk')), [5000, '5000m']);
    const offset = { streamDuration: { grpcHeaderMaxMs: 0, grpcHeaderOffsetMs: 300 } };
    assert.deepEqual(duration(offset, grpc('100S')), [99_700, '99700m']);
    assert.deepEqual(duration(offset, grpc('zz')), [undefined, 'zz']);
    assert.deepEqual(duration(offset, grpc('0m'))[0], 1);
    assert.deepEqual(duration({ streamDuration: { maxMs: 5000 } }, grpc('9H')), [5000, '5000m']);
    assert.deepEqual(duration({ streamDuration: {} }, grpc('9H')), [undefined, '9H']);
  });

  it('is bounded for gRPC alone by the older max_grpc_timeout', () => {
    const told = (given: Given, maxMs = 4000) => {
      const action = { ...ROUTES.older, maxGrpcTimeout: { maxMs, offsetMs: 300 } };
      const { expected, headers } = resolved(action, given);
      return [expected, headers.get('grpc-timeout')];
    };
    assert.deepEqual(told([]), ['9000', undefined]);
    assert.deepEqual(told(grpc('zz')), ['4000', '4000m']);
    assert.deepEqual(told(grpc('1S')), ['700', '700m']);
    assert.deepEqual(told(grpc('200m')), ['200', '200m']);
    assert.deepEqual(told(grpc('100S')), ['4000', '4000m']);
    assert.deepEqual(told(grpc('0m'), 0), [undefined, '0m']);
    assert.deepEqual(told(grpc('99H'), 0), ['356399700', '356399S']);
  });
});
