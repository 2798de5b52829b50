import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, httpListener } from '../support/bootstrap.ts';
import { resolverConfig, startDnsServer, type DnsServer } from '../support/dns-server.ts';
import { type Answer, fetchOnce } from '../support/http-client.ts';
import { startSluice, type Sluice } from '../support/sluice.ts';
import { startHttpUpstream } from '../support/upstream.ts';

const TYPES = 'type.googleapis.com/envoy.extensions';
const FILTER = `${TYPES}.filters.http.dynamic_forward_proxy.v3`;
const CLUSTER = `${TYPES}.clusters.dynamic_forward_proxy.v3.ClusterConfig`;

const ROUTER = {
  name: 'router',
  typed_config: { '@type': `${TYPES}.filters.http.router.v3.Router` },
};

interface Proxy {
  readonly filter: object;
  readonly cluster: object;
  readonly fields?: object;
}

/** Requests below /other are for the name in `x-name`, all others for their own. */
async function start({ filter, cluster, fields = {} }: Proxy): Promise<Sluice> {
  const other = { '@type': `${FILTER}.PerRouteConfig`, host_rewrite_header: 'x-name' };
  const routes = [
    {
      match: { prefix: '/other' },
      route: { cluster: 'any' },
      typed_per_filter_config: { dfp: other },
    },
    { match: { prefix: '/' }, route: { cluster: 'any' } },
  ];
  const dfp = { name: 'dfp', typed_config: { '@type': `${FILTER}.FilterConfig`, ...filter } };
  return await startSluice({
    concurrency: 2,
    bootstrap: bootstrap({
      listeners: [httpListener(routes, { hcm: { http_filters: [dfp, ROUTER] } })],
      clusters: [
        {
          name: 'any',
          connect_timeout: '1s',
          lb_policy: 'CLUSTER_PROVIDED',
          cluster_type: {
            name: 'envoy.clusters.dynamic_forward_proxy',
            typed_config: { '@type': CLUSTER, ...cluster },
          },
          ...fields,
        },
      ],
    }),
  });
}

function cacheConfig(dns: DnsServer, fields: object = {}): object {
  return {
    name: 'names',
    dns_lookup_family: 'V4_ONLY',
    typed_dns_resolver_config: resolverConfig(dns),
    ...fields,
  };
}

function asker(port: number): (host: string, more?: object) => Promise<Answer> {
  return (host, more = {}) => fetchOnce({ port, path: '/', headers: { host }, ...more });
}

describe('a dynamic forward proxy', () => {
  it('sends each request to the host that it names, looked up once for all workers', async () => {
    await using upstream = await startHttpUpstream((request, response) => {
      request.resume().on('end', () => response.end(`for ${request.headers.host ?? ''}`));
    });
    await using dns = await startDnsServer({
      'web.test': ['127.0.0.1'],
      'broken.test': 'fail',
      'fourth.test': ['127.0.0.1'],
    });
    const dns_cache_config = cacheConfig(dns, { max_hosts: 3 });
    await using sluice = await start({
      filter: { dns_cache_config },
      cluster: { dns_cache_config },
    });
    const ask = asker(await sluice.listenerPort('web'));
    const name = `web.test:${upstream.port}`;
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(name)));
    assert.deepEqual(new Set(answers.map(({ body }) => body)), new Set([`for ${name}`]));
    const other = await ask('ignored.test', { path: '/other', headers: { 'x-name': name } });
    assert.equal(other.body, `for ${name}`);
    const upload = await ask(name, { method: 'POST', body: 'x'.repeat(100_000) });
    assert.equal(upload.body, `for ${name}`);
    for (const host of ['broken.test', 'missing.test']) {
      const { status, body } = await ask(host);
      assert.deepEqual([status, body], [503, 'DNS resolution failure']);
    }
    const { status, body } = await ask('fourth.test');
    assert.deepEqual([status, body], [503, 'DNS cache overflow']);
    assert.match(
      (await sluice.admin('/clusters')).body,
      new RegExp(`any::127.0.0.1:${upstream.port}::hostname::${name}`),
    );
    const figure = (what: string): Promise<number> => sluice.stat(`dns_cache.names.${what}`);
    assert.equal(await figure('dns_query_attempt'), 3);
    assert.equal(await figure('dns_query_failure'), 1);
    assert.equal(await figure('host_added'), 3);
    assert.equal(await figure('host_overflow'), 1);
    assert.equal(await figure('num_hosts'), 3);
    assert.equal(await figure('circuit_breakers.rq_pending_remaining'), 1024);
    assert.equal(await sluice.stat('cluster.any.membership_total'), 1);
  });

  it('refuses what would wait beyond the limit, and forgets names that nobody uses', async () => {
    await using upstream = await startHttpUpstream((_, response) => response.end('here'));
    await using dns = await startDnsServer({ 'web.test': ['127.0.0.1'], 'silent.test': 'silent' });
    const dns_cache_config = cacheConfig(dns, {
      host_ttl: '0.1s',
      dns_refresh_rate: '0.2s',
      dns_query_timeout: '0.3s',
      dns_cache_circuit_breaker: { max_pending_requests: 1 },
    });
    await using sluice = await start({
      filter: { dns_cache_config },
      cluster: { dns_cache_config },
    });
    const ask = asker(await sluice.listenerPort('web'));
    const silent = ask('silent.test');
    await sluice.waitForStat(
      'dns_cache.names.circuit_breakers.rq_pending_open',
      (open) => open === 1,
    );
    const { body: refused } = await ask(`web.test:${upstream.port}`);
    assert.equal(refused, 'Dynamic forward proxy pending request overflow');
    assert.equal((await silent).body, 'DNS resolution failure');
    assert.equal((await ask(`127.0.0.1:${upstream.port}`)).body, 'here');
    await sluice.waitForStat('dns_cache.names.host_removed', (removed) => removed === 2);
    assert.equal(await sluice.stat('cluster.any.membership_total'), 0);
    assert.equal((await ask(`127.0.0.1:${upstream.port}`)).body, 'here');
  });

  it('makes a cluster of its own for each name where it is told to', async () => {
    await using upstream = await startHttpUpstream((_, response) => response.end('here'));
    await using dns = await startDnsServer({ 'web.test': ['127.0.0.1'], 'silent.test': 'silent' });
    await using sluice = await start({
      filter: { sub_cluster_config: { cluster_init_timeout: '0.7s' } },
      cluster: { sub_clusters_config: { max_sub_clusters: 2, sub_cluster_ttl: '1.5s' } },
      fields: { typed_dns_resolver_config: resolverConfig(dns), dns_lookup_family: 'V4_ONLY' },
    });
    const ask = asker(await sluice.listenerPort('web'));
    const name = `web.test:${upstream.port}`;
    const answers = await Promise.all(Array.from({ length: 4 }, () => ask(name)));
    assert.deepEqual(new Set(answers.map(({ body }) => body)), new Set(['here']));
    const { body } = await sluice.admin('/clusters');
    assert.match(
      body,
      new RegExp(`DFPCluster:${name}::127.0.0.1:${upstream.port}::hostname::web.test`),
    );
    assert.equal(
      await sluice.stat(`cluster.DFPCluster_web.test_${upstream.port}.upstream_rq_total`),
      4,
    );
    assert.equal((await ask('silent.test')).body, 'Sub cluster warming timeout');
    assert.equal((await ask('third.test')).body, 'Sub cluster overflow');
    await sluice.waitForStat('cluster_manager.cluster_removed', (removed) => removed === 2);
    assert.equal((await ask(name)).body, 'here');
  });
});
