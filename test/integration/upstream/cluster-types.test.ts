import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.clusters';

const PROXY_PROTOCOL = {
  name: 'envoy.filters.listener.proxy_protocol',
  typed_config: {
    '@type':
      'type.googleapis.com/envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol',
  },
};

describe('clusters that bring their own balancer', () => {
  it('go on to the next cluster of an aggregate, and take the address that a header or the connection names', async () => {
    await using sick = await startHttpUpstream((_, response) => {
      response.statusCode = 503;
      response.end('sick');
    });
    await using well = await startHttpUpstream((_, response) => response.end('well'));
    const health_checks = [
      {
        timeout: '1s',
        interval: '0.05s',
        unhealthy_threshold: 1,
        healthy_threshold: 1,
        http_health_check: { path: '/' },
      },
    ];
    const provided = { lb_policy: 'CLUSTER_PROVIDED', connect_timeout: '1s' };
    await using sluice = await startSluice({
      concurrency: 2,
      bootstrap: bootstrap({
        listeners: [
          httpListener([
            { match: { prefix: '/named' }, route: { cluster: 'named' } },
            { match: { prefix: '/' }, route: { cluster: 'both' } },
          ]),
          httpListener([{ match: { prefix: '/' }, route: { cluster: 'named' } }], {
            name: 'behind',
            listener: { listener_filters: [PROXY_PROTOCOL] },
          }),
        ],
        clusters: [
          {
            ...provided,
            name: 'both',
            cluster_type: {
              name: 'envoy.clusters.aggregate',
              typed_config: {
                '@type': `${TYPE}.aggregate.v3.ClusterConfig`,
                clusters: ['first', 'second'],
              },
            },
          },
          staticCluster('first', [sick.port], { health_checks }),
          staticCluster('second', [well.port]),
          {
            ...provided,
            name: 'named',
            type: 'ORIGINAL_DST',
            original_dst_lb_config: { use_http_header: true },
            cleanup_interval: '0.1s',
          },
        ],
      }),
    });
    const port = await sluice.listenerPort('web');
    for (let count = 0; count < 4; count++) {
      assert.equal((await fetchOnce({ port, path: '/' })).body, 'well');
    }
    assert.equal(await sluice.stat('cluster.both.upstream_rq_200'), 4);
    assert.equal(await sluice.stat('cluster.second.upstream_rq_total'), 4);
    const headers = { 'x-envoy-original-dst-host': `127.0.0.1:${well.port}` };
    assert.equal((await fetchOnce({ port, path: '/named', headers })).body, 'well');
    await sluice.waitForStat('cluster.named.membership_change', (count) => count >= 2);
    assert.equal(await sluice.stat('cluster.named.membership_total'), 0, 'unused hosts go');
    assert.equal((await fetchOnce({ port, path: '/named', headers })).body, 'well');
    assert.equal((await fetchOnce({ port, path: '/named' })).status, 503);
    const client = await openRaw(await sluice.listenerPort('behind'));
    client.send(`PROXY TCP4 1.2.3.4 127.0.0.1 7 ${well.port}\r\n`);
    client.send('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
    assert.match(await client.closed(), /^HTTP\/1.1 200 OK[^]*well/);
  });
});
