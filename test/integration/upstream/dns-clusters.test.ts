import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { resolverConfig, startDnsServer, type DnsServer } from '../../support/peers/dns-server.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';

function dnsCluster(
  server: DnsServer,
  target: { readonly name: string; readonly port: number },
  fields: object = {},
): object {
  return {
    name: 'up',
    connect_timeout: '1s',
    type: 'STRICT_DNS',
    dns_lookup_family: 'V4_ONLY',
    dns_refresh_rate: '0.05s',
    typed_dns_resolver_config: resolverConfig(server),
    load_assignment: {
      cluster_name: 'up',
      endpoints: [
        {
          lb_endpoints: [
            {
              endpoint: {
                address: { socket_address: { address: target.name, port_value: target.port } },
              },
            },
          ],
        },
      ],
    },
    ...fields,
  };
}

const ROUTES = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];

describe('clusters whose hosts are found by name', () => {
  it('serve from the first request on and follow the addresses of the name', async () => {
    await using upstream = await startHttpUpstream((_, response) => response.end('here'));
    await using dns = await startDnsServer({ 'web.test': ['127.0.0.1'] });
    await using sluice = await startSluice({
      concurrency: 2,
      bootstrap: bootstrap({
        listeners: [httpListener(ROUTES)],
        clusters: [dnsCluster(dns, { name: 'web.test', port: upstream.port })],
      }),
    });
    const port = await sluice.listenerPort('web');
    assert.equal((await fetchOnce({ port, path: '/' })).body, 'here');
    assert.equal(await sluice.stat('cluster.up.membership_total'), 1);
    dns.names.set('web.test', ['127.0.0.1', '127.0.0.2']);
    await sluice.waitForStat('cluster.up.membership_total', (hosts) => hosts === 2);
    const { body } = await sluice.admin('/clusters');
    assert.match(body, new RegExp(`up::127.0.0.2:${upstream.port}::hostname::web.test`));
    // The host that stayed kept its figures.
    assert.match(body, new RegExp(`up::127.0.0.1:${upstream.port}::rq_total::1`));
    dns.names.delete('web.test');
    await sluice.waitForStat('cluster.up.membership_total', (hosts) => hosts === 0);
    assert.equal((await fetchOnce({ port, path: '/' })).status, 503);
    assert.equal(await sluice.stat('cluster.up.membership_change'), 3);
    assert.ok((await sluice.stat('dns.cares.not_found')) > 0);
  });

  it('have one host per logical name, another one when the address changes', async () => {
    await using upstream = await startHttpUpstream((_, response) => response.end('here'));
    await using dns = await startDnsServer({ 'web.test': ['127.0.0.1', '127.0.0.2'] });
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [httpListener(ROUTES)],
        clusters: [
          dnsCluster(dns, { name: 'web.test', port: upstream.port }, { type: 'LOGICAL_DNS' }),
        ],
      }),
    });
    const port = await sluice.listenerPort('web');
    assert.equal((await fetchOnce({ port, path: '/' })).body, 'here');
    dns.names.set('web.test', ['127.0.0.3']);
    const body = await waitUntil('the other address', async () => {
      const page = (await sluice.admin('/clusters')).body;
      return page.includes('127.0.0.3') ? page : undefined;
    });
    assert.match(body, new RegExp(`up::127.0.0.3:${upstream.port}::rq_total::0`));
    assert.equal(await sluice.stat('cluster.up.membership_change'), 2);
    dns.names.delete('web.test');
    await sluice.waitForStat('cluster.up.update_failure', (count) => count > 0);
    assert.equal(await sluice.stat('cluster.up.membership_total'), 1);
  });

  it('find localhost in the hosts file and serve without hosts when nobody answers', async () => {
    await using upstream = await startHttpUpstream((_, response) => response.end('here'));
    await using dns = await startDnsServer({ 'gone.test': 'fail' });
    const gone = dnsCluster(dns, { name: 'gone.test', port: 1 }, { name: 'gone' });
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [httpListener(ROUTES)],
        clusters: [dnsCluster(dns, { name: 'localhost', port: upstream.port }), gone],
      }),
    });
    const port = await sluice.listenerPort('web');
    assert.equal((await fetchOnce({ port, path: '/' })).body, 'here');
    assert.ok((await sluice.stat('cluster.gone.update_failure')) > 0);
    assert.equal(await sluice.stat('cluster.gone.membership_total'), 0);
  });
});
