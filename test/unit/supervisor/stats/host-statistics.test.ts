import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type EndpointStatValues } from '../../../../supervisor/stats/endpoint-stats.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import type { StatsPages } from '../../../../supervisor/stats-output/stats-pages.ts';
import { fixedTag } from '../../../../supervisor/stats/tags/tag-rule.ts';
import { HOST } from '../../../../shared/stats/templates/cluster.ts';
import { pagesOf, read } from './ask-pages.ts';

describe('statistics of single hosts', () => {
  function someHosts(): { store: StatStore; pages: StatsPages } {
    const store = new StatStore();
    store.add(store.defineCounter('cluster.a.upstream_rq_200'), 1);
    store.setGauge(store.defineGauge('server.live'), 1);
    const base = store.defineBlock(HOST, 'host.a.127.0.0.1:80.');
    store.add(base + HOST.index.rq_total, 3);
    store.add(base + HOST.index.cx_active, 1);
    const common = { cluster: 'a', isHealthy: true };
    const hosts: readonly EndpointStatValues[] = [
      {
        ...common,
        address: '127.0.0.1:80',
        prefix: 'cluster.a.endpoint.127.0.0.1_80.',
        hostname: 'one',
        base,
      },
      {
        ...common,
        address: '[::1]:80',
        prefix: 'cluster.a.endpoint.[__1]_80.',
        hostname: '',
        isHealthy: false,
        base: undefined,
      },
    ];
    return { store, pages: pagesOf(store, [fixedTag('stage', 'test')], { hosts }) };
  }

  it('stand behind all counters and gauges, host by host, and count as used', async () => {
    const lines = (await read(someHosts().pages, '/stats', 'usedonly')).trimEnd().split('\n');
    assert.deepEqual(lines.slice(0, 2), ['cluster.a.upstream_rq_200: 1', 'server.live: 1']);
    const names = ['cx_connect_fail', 'cx_total', 'rq_error', 'rq_success', 'rq_timeout'];
    assert.deepEqual(lines.slice(2), [
      ...names.map((name) => `cluster.a.endpoint.127.0.0.1_80.${name}: 0`),
      'cluster.a.endpoint.127.0.0.1_80.rq_total: 3',
      'cluster.a.endpoint.127.0.0.1_80.cx_active: 1',
      'cluster.a.endpoint.127.0.0.1_80.rq_active: 0',
      'cluster.a.endpoint.127.0.0.1_80.rq_pending_active: 0',
      'cluster.a.endpoint.127.0.0.1_80.healthy: 1',
      ...[...names, 'rq_total', 'cx_active', 'rq_active', 'rq_pending_active', 'healthy'].map(
        (name) => `cluster.a.endpoint.[__1]_80.${name}: 0`,
      ),
    ]);
  });

  it('are selected by kind and name, and are in JSON and HTML', async () => {
    const { pages } = someHosts();
    const query = 'type=Gauges&filter=active|healthy';
    assert.match(await read(pages, '/stats', query), /^cluster\.a\.endpoint\.[^\n]*cx_active: 1\n/);
    assert.equal(await read(pages, '/stats', 'hidden=only'), '');
    assert.match(await read(pages, '/stats', 'format=html'), /_80\.rq_total: 3\n/);
    const { stats } = JSON.parse(await read(pages, '/stats', 'format=json&filter=rq_total')) as {
      stats: unknown;
    };
    assert.deepEqual(stats, [
      { name: 'cluster.a.endpoint.127.0.0.1_80.rq_total', value: 3 },
      { name: 'cluster.a.endpoint.[__1]_80.rq_total', value: 0 },
    ]);
  });

  it('are tagged with cluster, address and name for Prometheus', async () => {
    const page = await read(someHosts().pages, '/stats/prometheus', 'filter=endpoint.*rq_total');
    assert.equal(
      page,
      '# TYPE envoy_cluster_endpoint_rq_total counter\n' +
        'envoy_cluster_endpoint_rq_total{stage="test",envoy_cluster_name="a",' +
        'envoy_endpoint_address="127.0.0.1:80",envoy_endpoint_hostname="one"} 3\n' +
        'envoy_cluster_endpoint_rq_total{stage="test",envoy_cluster_name="a",' +
        'envoy_endpoint_address="[::1]:80"} 0\n',
    );
  });

  it('keep their values when counters are reset, as /clusters does', async () => {
    const { pages } = someHosts();
    await pages.resetCounters();
    assert.equal(
      await read(pages, '/stats', 'filter=one|127.*rq_total|rq_200'),
      'cluster.a.upstream_rq_200: 0\ncluster.a.endpoint.127.0.0.1_80.rq_total: 3\n',
    );
  });
});
