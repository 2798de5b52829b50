/** `/clusters` and `/listeners` against what Envoy printed for the same configuration. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  AdminContext,
  ClusterStatus,
  HostStatus,
} from '../../../../supervisor/admin/admin-context.ts';
import { ask } from './ask.ts';
import { fakeContext } from './fake-context.ts';
import { golden } from './golden.ts';

const NO_STATS: HostStatus['stats'] = {
  cx_active: 0,
  cx_connect_fail: 0,
  cx_total: 0,
  rq_active: 0,
  rq_pending_active: 0,
  rq_error: 0,
  rq_success: 0,
  rq_timeout: 0,
  rq_total: 0,
};

function host(port: number, fields: Partial<HostStatus> = {}): HostStatus {
  return {
    address: { kind: 'ip', address: '127.0.0.1', port },
    hostname: '',
    healthFlags: [],
    edsHealth: 'HEALTHY',
    weight: 1,
    region: '',
    zone: '',
    subZone: '',
    canary: false,
    priority: 0,
    successRate: -1,
    localOriginSuccessRate: -1,
    stats: NO_STATS,
    ...fields,
  };
}

function thresholds(values: readonly [number, number, number, number]) {
  const [maxConnections, maxPendingRequests, maxRequests, maxRetries] = values;
  return { maxConnections, maxPendingRequests, maxRequests, maxRetries };
}

const DEFAULTS = thresholds([1024, 1024, 1024, 3]);

function cluster(fields: Partial<ClusterStatus> & { readonly name: string }): ClusterStatus {
  return {
    observabilityName: fields.name,
    addedViaApi: false,
    circuitBreakers: { DEFAULT: DEFAULTS, HIGH: DEFAULTS },
    hosts: [],
    ...fields,
  };
}

const NEAR = { region: 'r1', zone: 'z1', subZone: 's1' };
const FAR = { region: 'r2', zone: 'z2', priority: 1 };

const CLUSTERS: readonly ClusterStatus[] = [
  cluster({
    name: 'rich',
    observabilityName: 'rich_alias',
    outlier: { externalAverage: -1, externalThreshold: -1, localAverage: -1, localThreshold: -1 },
    circuitBreakers: {
      DEFAULT: thresholds([7, 8, 9, 2]),
      HIGH: thresholds([70, 1024, 90, 3]),
    },
    hosts: [
      host(10001, { hostname: 'one.test', weight: 5, ...NEAR }),
      host(10002, { canary: true, ...NEAR }),
      host(10003, { healthFlags: ['eds_status_draining'], edsHealth: 'DRAINING', ...FAR }),
      host(10004, { healthFlags: ['failed_eds_health'], edsHealth: 'UNHEALTHY', ...FAR }),
    ],
  }),
  cluster({ name: 'empty' }),
  cluster({ name: 'plain', hosts: [host(10001)] }),
];

function contextWith(list: readonly ClusterStatus[]): AdminContext {
  return fakeContext({
    clusters: {
      refresh: async () => await Promise.resolve(),
      names: () => list.map(({ name }) => name),
      status: (name) => list.find((status) => status.name === name),
      certificates: () => [],
    },
  }).context;
}

test('/clusters prints what Envoy prints, as text and as JSON', async () => {
  const context = contextWith(CLUSTERS);
  const page = await ask(context, '/clusters');
  assert.equal(page.body, golden('clusters.txt'));
  const json = await ask(context, '/clusters?format=json');
  assert.equal(json.contentType, 'application/json');
  assert.equal(json.body, golden('clusters.json'));
  assert.equal((await ask(context, '/clusters?format=bad')).body, golden('clusters.txt'));
});

test('/clusters?filter= narrows by a partial match; a bad pattern is refused', async () => {
  const context = contextWith(CLUSTERS);
  const page = await ask(context, '/clusters?filter=pla');
  assert.match(page.body, /^plain::observability_name::plain\n/);
  assert.doesNotMatch(page.body, /rich|empty/);
  const refused = await ask(context, '/clusters?filter=%5B');
  assert.deepEqual([refused.status, refused.body], [400, 'Invalid re2 regex']);
});

test('no clusters are an empty page and an empty JSON object', async () => {
  const context = contextWith([]);
  assert.equal((await ask(context, '/clusters')).body, '');
  assert.equal((await ask(context, '/clusters?format=json')).body, '{}\n');
});

test('health flags, statistics and success rates appear once they are not at their default', async () => {
  const stats = { ...NO_STATS, cx_active: 1, rq_total: 9 };
  const context = contextWith([
    cluster({
      name: 'c',
      addedViaApi: true,
      edsServiceName: 'eds-c',
      outlier: { externalAverage: 90, externalThreshold: 50, localAverage: 0, localThreshold: 0 },
      hosts: [
        host(1, {
          healthFlags: ['failed_active_hc', 'failed_outlier_check'],
          successRate: 87.5,
          stats,
        }),
      ],
    }),
  ]);
  const page = await ask(context, '/clusters');
  assert.match(page.body, /c::added_via_api::true\nc::eds_service_name::eds-c\n/);
  assert.match(page.body, /health_flags::\/failed_active_hc\/failed_outlier_check\n/);
  const { cluster_statuses: statuses } = JSON.parse(
    (await ask(context, '/clusters?format=json')).body,
  ) as { cluster_statuses: readonly Record<string, unknown>[] };
  const [status] = statuses;
  assert.equal(status?.['added_via_api'], true);
  assert.deepEqual(status?.['success_rate_ejection_threshold'], { value: 50 });
  assert.deepEqual(status?.['local_origin_success_rate_ejection_threshold'], {});
  const [first] = (status?.['host_statuses'] ?? []) as readonly Record<string, unknown>[];
  assert.deepEqual(first?.['health_status'], {
    failed_active_health_check: true,
    failed_outlier_check: true,
    eds_health_status: 'HEALTHY',
  });
  assert.deepEqual(first?.['success_rate'], { value: 87.5 });
});

test('/listeners prints every bound address, as text and as JSON', async () => {
  const ip = (port: number) => ({ kind: 'ip', family: 'v4', address: '127.0.0.1', port }) as const;
  const { context } = fakeContext({
    listeners: {
      list: () => [
        { name: 'auto', addresses: [ip(10001)] },
        { name: 'web', addresses: [ip(10002)] },
        { name: 'pipe', addresses: [{ kind: 'pipe', path: '/tmp/case/s.sock' }] },
        { name: 'multi', addresses: [ip(10003), ip(10004)] },
      ],
    },
  });
  assert.equal((await ask(context, '/listeners')).body, golden('listeners.txt'));
  assert.equal((await ask(context, '/listeners?format=json')).body, golden('listeners.json'));
  const none = fakeContext().context;
  assert.equal((await ask(none, '/listeners')).body, '');
  assert.equal((await ask(none, '/listeners?format=json')).body, '{}\n');
});
