/** Statistics beyond Envoy's pages: OpenMetrics with sampled requests, and what changed since. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { CLOSED_PORT, type HttpUpstream, startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const TRACE_ID = '463ac35c9f6413ad48485a3953bb6124';
const SCRAPE = 'application/openmetrics-text;version=1.0.0;q=0.6,text/plain;q=0.3,*/*;q=0.2';
const tracing = {
  provider: {
    name: 'envoy.tracers.zipkin',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.config.trace.v3.ZipkinConfig',
      collector_cluster: 'collector',
      collector_endpoint: '/api/v2/spans',
      collector_endpoint_version: 'HTTP_JSON',
    },
  },
};

interface Changes {
  readonly cursor: string;
  readonly counters: Readonly<Record<string, number>>;
  readonly gauges: Readonly<Record<string, number>>;
  readonly histograms: Readonly<Record<string, { readonly count: number; readonly sum: number }>>;
}

describe('statistics', () => {
  let upstream: HttpUpstream;
  let sluice: Sluice;
  let port: number;

  before(async () => {
    upstream = await startHttpUpstream();
    const routes = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
    sluice = await startSluice({
      bootstrap: bootstrap(
        {
          listeners: [httpListener(routes, { hcm: { tracing } })],
          clusters: [
            staticCluster('up', [upstream.port], {
              track_cluster_stats: { per_endpoint_stats: true },
            }),
            staticCluster('collector', [CLOSED_PORT]),
          ],
        },
        { stats_flush_interval: '0.1s' },
      ),
    });
    port = await sluice.listenerPort('web');
    const ids = { 'x-b3-traceid': TRACE_ID, 'x-b3-spanid': 'a2fb4a1d1a96d312' };
    await fetchOnce({ port, path: '/', headers: { ...ids, 'x-b3-sampled': '1' } });
  });

  after(async () => {
    await sluice?.[Symbol.asyncDispose]();
    await upstream?.[Symbol.asyncDispose]();
  });

  it('have a sampled request in a bucket of both ends, and help for each family', async () => {
    // Histograms get their values at each flush.
    const body = await waitUntil('the values', async () => {
      const page = await sluice.admin('/stats/prometheus?format=openmetrics');
      return page.body.match(/_rq_time_count\{[^}]*\} 1$/gm)?.length === 3 ? page.body : undefined;
    });
    for (const name of ['http_downstream_rq_time', 'cluster_upstream_rq_time']) {
      const found = body.split('\n').filter((line) => line.includes(`${name}_bucket{`));
      const named = found.filter((line) => line.includes(' # {trace_id='));
      assert.equal(named.length, 1, name);
      const pattern = new RegExp(` 1 # \\{trace_id="${TRACE_ID}"\\} \\d+ \\d+\\.\\d{3}$`);
      assert.match(named[0] ?? '', pattern);
    }
    const families = (word: string): readonly string[] =>
      [...body.matchAll(new RegExp(`^# ${word} (\\S+) .`, 'gm'))].map(([, name]) => String(name));
    assert.deepEqual(families('HELP'), families('TYPE'));
    assert.match(body, /# HELP envoy_cluster_endpoint_rq Requests\n/);
    assert.ok(body.endsWith('# EOF\n'));
  });

  it('are Envoy’s page for a scrape that does not ask for OpenMetrics alone', async () => {
    const { adminPort } = sluice;
    const path = '/stats/prometheus';
    const { body } = await fetchOnce({ port: adminPort, path, headers: { accept: SCRAPE } });
    assert.ok(!/trace_id|# HELP|# EOF/.test(body));
    assert.match(body, /^# TYPE envoy_cluster_upstream_rq_total counter$/m);
  });

  it('say what changed since an answer', async () => {
    const changes = async (query: string): Promise<Changes> => {
      const { body } = await sluice.admin(`/stats?format=json&filter=(web|up)&since=${query}`);
      return JSON.parse(body) as Changes;
    };
    const first = await changes('now');
    assert.deepEqual([first.counters, first.gauges, first.histograms], [{}, {}, {}]);
    await fetchOnce({ port, path: '/' });
    await fetchOnce({ port, path: '/' });
    // Three with the one before. Asked elsewhere: each answer here is a cursor, of which few are kept.
    await waitUntil('the values', async () => {
      const { body } = await sluice.admin('/stats/prometheus');
      return /upstream_rq_time_count\{[^}]*"up"[^}]*\} 3\n/.test(body);
    });
    const second = await changes(first.cursor);
    assert.equal(second.histograms['cluster.up.upstream_rq_time']?.count, 2);
    assert.equal(second.counters['cluster.up.upstream_rq_200'], 2);
    assert.equal(second.counters['cluster.collector.upstream_rq_total'], undefined);
    assert.deepEqual((await changes(second.cursor)).counters, {});
    // The older cursor still holds.
    assert.equal((await changes(first.cursor)).counters['cluster.up.upstream_rq_200'], 2);
    const text = await sluice.admin(`/stats?filter=(web|up)&since=${first.cursor}`);
    assert.match(text.body, /^cluster\.up\.upstream_rq_200: \+2$/m);
    for (const [query, reason] of [
      ['since=gone', /begin with since=now/],
      [`since=${first.cursor}&filter=other`, /other parameters/],
    ] as const) {
      const refused = await sluice.admin(`/stats?${query}`);
      assert.equal(refused.status, 400);
      assert.match(refused.body, reason);
    }
  });
});
