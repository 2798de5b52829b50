import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';

describe('statistics that a configuration asks for', () => {
  it('count a route under its stat_prefix, and sizes and shares of time where a cluster wants them', async () => {
    await using upstream = await startHttpUpstream((_, response) => response.end('answer'));
    const track = { timeout_budgets: true, request_response_sizes: true };
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [
          httpListener([
            // One percent of the timeout is longer than an answer takes on any machine.
            {
              match: { prefix: '/' },
              stat_prefix: 'front',
              route: { cluster: 'up', timeout: '3600s' },
            },
          ]),
        ],
        clusters: [staticCluster('up', [upstream.port], { track_cluster_stats: track })],
      }),
    });
    const before = await sluice.admin('/stats?filter=upstream_r._(headers|body|timeout_budget)');
    assert.equal(before.body.match(/: No recorded values/g)?.length, 8);
    const port = await sluice.listenerPort('web');
    await fetchOnce({ port, path: '/' });
    await sluice.waitForStat('vhost.all.route.front.upstream_rq_200', (count) => count === 1);
    assert.equal(await sluice.stat('vhost.all.route.front.upstream_rq_total'), 1);
    const page = '/stats?format=json&histogram_buckets=detailed&filter=cluster.up.upstream_r';
    const totals = async (): Promise<ReadonlyMap<string, string> | undefined> => {
      const { body } = await sluice.admin(page);
      const { stats } = JSON.parse(body) as {
        stats: { histograms?: { details: { name: string; totals: object[] }[] } }[];
      };
      const details = stats.at(-1)?.histograms?.details ?? [];
      const found = new Map(details.map(({ name, totals: all }) => [name, JSON.stringify(all)]));
      return found.get('cluster.up.upstream_rs_body_size') === '[]' ? undefined : found;
    };
    const seen = await waitUntil('the histograms', totals);
    const first = (name: string): string | undefined => seen.get(`cluster.up.upstream_${name}`);
    assert.match(first('rs_body_size') ?? '', /"lower_bound":6,/);
    assert.match(first('rq_body_size') ?? '', /"lower_bound":0,/);
    assert.match(first('rq_timeout_budget_per_try_percent_used') ?? '', /"lower_bound":0,/);
    for (const name of ['rq_headers_size', 'rq_headers_count', 'rs_headers_size']) {
      assert.match(first(name) ?? '', /"count":1/);
    }
  });
});
