import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { connect } from 'node:tls';
import { bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { resolverConfig, startDnsServer, type DnsServer } from '../../support/peers/dns-server.ts';
import { type Answer, fetchOnce } from '../../support/peers/http-client.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';
import { filterListener, networkFilter, tcpProxyFilter } from '../../support/parts/tcp-listener.ts';
import { startHttpUpstream, startRawUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';

const TYPES = 'type.googleapis.com/envoy.extensions';
const FILTER = `${TYPES}.filters.http.dynamic_forward_proxy.v3`;
const CLUSTER = `${TYPES}.clusters.dynamic_forward_proxy.v3.ClusterConfig`;

const ROUTER = {
  name: 'router',
  typed_config: { '@type': `${TYPES}.filters.http.router.v3.Router` },
};

const TLS_INSPECTOR = {
  name: 'tls',
  typed_config: { '@type': `${TYPES}.filters.listener.tls_inspector.v3.TlsInspector` },
};

interface Proxy {
  readonly filter: object;
  readonly cluster: object;
  readonly fields?: object;
  /** HTTP filters in front of the proxy's. */
  readonly before?: readonly object[];
  readonly listeners?: readonly object[];
}

/** Where a request has the header. */
function stateFromHeader(key: string, header: string): object {
  const value = {
    text_format_source: { inline_string: `%REQ(${header})%` },
    omit_empty_values: true,
  };
  return {
    name: 'state',
    typed_config: {
      '@type': `${TYPES}.filters.http.set_filter_state.v3.Config`,
      on_request_headers: [{ object_key: key, format_string: value, skip_if_empty: true }],
    },
  };
}

/** Requests below /other are for the name in `x-name`, all others for their own. */
async function start(proxy: Proxy): Promise<Sluice> {
  const { filter, cluster, fields = {}, before = [], listeners = [] } = proxy;
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
      listeners: [
        httpListener(routes, { hcm: { http_filters: [...before, dfp, ROUTER] } }),
        ...listeners,
      ],
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
    await using dns = await startDnsServer({ 'web.test': ['127.0.0.1'], 'slow.test': 'held' });
    const dns_cache_config = cacheConfig(dns, {
      host_ttl: '0.1s',
      dns_refresh_rate: '0.2s',
      dns_cache_circuit_breaker: { max_pending_requests: 1 },
    });
    await using sluice = await start({
      filter: { dns_cache_config },
      cluster: { dns_cache_config },
    });
    const ask = asker(await sluice.listenerPort('web'));
    const slow = ask('slow.test');
    await sluice.waitForStat(
      'dns_cache.names.circuit_breakers.rq_pending_open',
      (open) => open === 1,
    );
    const { body: refused } = await ask(`web.test:${upstream.port}`);
    assert.equal(refused, 'Dynamic forward proxy pending request overflow');
    dns.names.set('slow.test', 'fail');
    dns.release();
    assert.equal((await slow).body, 'DNS resolution failure');
    assert.equal((await ask(`127.0.0.1:${upstream.port}`)).body, 'here');
    await sluice.waitForStat('dns_cache.names.host_removed', (removed) => removed === 2);
    assert.equal(await sluice.stat('cluster.any.membership_total'), 0);
    assert.equal((await ask(`127.0.0.1:${upstream.port}`)).body, 'here');
  });

  it('goes by what filters and TLS clients say, leaves addresses out, and keeps names for the next start', async () => {
    using scratch = makeScratch();
    let hello = '';
    await using upstream = await startHttpUpstream((_, response) => response.end('here'));
    await using tlsUpstream = await startRawUpstream((socket) => {
      socket.once('data', (bytes: Buffer) => {
        hello = bytes.toString('latin1');
        socket.destroy();
      });
    });
    await using dns = await startDnsServer({ 'web.test': ['127.0.0.1', '10.0.0.1'] });
    const kept = `kept.test:${upstream.port}`;
    const address = `127.0.0.1:${upstream.port}|30|1`;
    writeFileSync(scratch.file('names'), `${kept.length}\n${kept}${address.length}\n${address}`);
    const dns_cache_config = cacheConfig(dns, {
      resolved_address_filter: { ranges: [{ address_prefix: '10.0.0.0', prefix_len: 8 }] },
      key_value_config: {
        config: {
          name: 'envoy.key_value.file_based',
          typed_config: {
            '@type': `${TYPES}.key_value.file_based.v3.FileBasedKeyValueStoreConfig`,
            filename: scratch.file('names'),
            flush_interval: '0s',
          },
        },
      },
    });
    const sni = networkFilter('sni', 'sni_dynamic_forward_proxy.v3.FilterConfig', {
      dns_cache_config,
      port_value: tlsUpstream.port,
    });
    await using sluice = await start({
      filter: { dns_cache_config, allow_dynamic_host_from_filter_state: true },
      cluster: { dns_cache_config },
      before: [stateFromHeader('envoy.upstream.dynamic_host', 'x-dynamic')],
      listeners: [
        filterListener([sni, tcpProxyFilter({ cluster: 'any' })], {
          name: 'tls',
          listener_filters: [TLS_INSPECTOR],
        }),
      ],
    });
    const ask = asker(await sluice.listenerPort('web'));
    assert.equal((await ask(kept)).body, 'here');
    const named = { headers: { host: 'other.test', 'x-dynamic': `web.test:${upstream.port}` } };
    assert.equal((await ask('other.test', named)).body, 'here');
    assert.equal((await ask(`10.1.1.1:${upstream.port}`)).body, 'DNS resolution failure');
    assert.equal(await sluice.stat('dns_cache.names.dns_address_filter_out'), 2);
    assert.equal(await sluice.stat('dns_cache.names.cache_load'), 1);
    assert.equal(await sluice.stat('dns_cache.names.dns_query_attempt'), 2);
    await waitUntil('the kept name', () =>
      readFileSync(scratch.file('names'), 'latin1').includes(`web.test:${upstream.port}`),
    );
    const client = connect({ port: await sluice.listenerPort('tls'), servername: 'web.test' });
    client.on('error', () => client.destroy());
    await waitUntil('the greeting of the client', () => hello.includes('web.test'));
  });

  it('makes a cluster of its own for each name where it is told to', async () => {
    await using upstream = await startHttpUpstream((_, response) => response.end('here'));
    await using dns = await startDnsServer({ 'web.test': ['127.0.0.1'], 'silent.test': 'silent' });
    await using sluice = await start({
      filter: { sub_cluster_config: { cluster_init_timeout: '1s' } },
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
    const silent = ask('silent.test');
    await waitUntil('the question', () => dns.asked.includes('silent.test A'));
    assert.equal((await ask('third.test')).body, 'Sub cluster overflow');
    assert.equal((await silent).body, 'Sub cluster warming timeout');
    await sluice.waitForStat('cluster_manager.cluster_removed', (removed) => removed === 2);
    assert.equal((await ask(name)).body, 'here');
  });
});
