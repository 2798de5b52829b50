import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adsBootstrap } from '../../support/peers/ads-bootstrap.ts';
import { httpListener } from '../../support/parts/bootstrap.ts';
import { startControlPlane } from '../../support/peers/control-plane.ts';
import { resource } from '../../support/peers/discovery-files.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';

const ADS = { ads: {}, resource_api_version: 'V3' };

describe('resources over one aggregated gRPC stream', () => {
  it('are added, changed, refused and kept over a lost stream', async () => {
    await using one = await startHttpUpstream((_, response) => response.end('one'));
    await using two = await startHttpUpstream((_, response) => response.end('two'));
    await using control = await startControlPlane();
    const cluster = resource.cluster({
      name: 'up',
      type: 'EDS',
      connect_timeout: '1s',
      eds_cluster_config: { eds_config: ADS },
    });
    const hcm = { route_config: undefined, rds: { config_source: ADS, route_config_name: 'rc' } };
    control.set('cluster.v3.Cluster', 'c1', [cluster]);
    control.set('endpoint.v3.ClusterLoadAssignment', 'e1', [resource.endpoints('up', [one.port])]);
    control.set('listener.v3.Listener', 'l1', [resource.listener(httpListener([], { hcm }))]);
    const toUp = { match: { prefix: '/' }, route: { cluster: 'up' } };
    control.set('route.v3.RouteConfiguration', 'r1', [resource.routes('rc', [toUp])]);
    await using sluice = await startSluice({
      bootstrap: adsBootstrap(control.port, { apiType: 'GRPC', hasCds: true }),
    });
    const port = await sluice.listenerPort('web');
    const body = async (): Promise<string> => (await fetchOnce({ port, path: '/' })).body;
    assert.equal(await body(), 'one');
    const { id, extensions } = control.requests[0]?.node ?? {};
    assert.equal(id, 'me');
    assert.ok(extensions?.some(({ name }) => name === 'envoy.filters.http.router'));
    assert.equal(await sluice.stat('control_plane.connected_state'), 1);

    control.set('endpoint.v3.ClusterLoadAssignment', 'e2', [resource.endpoints('up', [two.port])]);
    await waitUntil('the second upstream', async () => (await body()) === 'two');

    const everything = { numerator: 100, denominator: 'HUNDRED' };
    const drops = [{ category: 'all', drop_percentage: everything }];
    // It is in force with other hosts.
    const dropping = { ...resource.endpoints('up', [one.port]), policy: { drop_overloads: drops } };
    control.set('endpoint.v3.ClusterLoadAssignment', 'e3', [dropping]);
    await waitUntil('requests that are dropped', async () => (await body()) !== 'two');
    assert.equal((await fetchOnce({ port, path: '/' })).status, 503);
    control.set('endpoint.v3.ClusterLoadAssignment', 'e4', [resource.endpoints('up', [two.port])]);
    await waitUntil('requests that are not', async () => (await body()) === 'two');

    const bad = resource.cluster({ name: 'bad', type: 'EDS' });
    control.set('cluster.v3.Cluster', 'c2', [cluster, bad]);
    const refusal = await waitUntil('a refusal', () =>
      control.requests.find(({ error_detail: detail }) => detail !== undefined),
    );
    assert.match(refusal.error_detail?.message ?? '', /cluster\(s\) bad: cannot create an EDS/);
    assert.equal(refusal.version_info, 'c1');
    assert.equal(await body(), 'two');

    control.set('cluster.v3.Cluster', 'c1', [cluster]);
    const before = control.requests.length;
    control.drop();
    // The first request of a stream answers nothing.
    await waitUntil('another stream', () =>
      control.requests.slice(before).some(({ response_nonce: nonce }) => nonce === undefined),
    );
    assert.equal(await body(), 'two');
    control.set('endpoint.v3.ClusterLoadAssignment', 'e3', [resource.endpoints('up', [one.port])]);
    await waitUntil('the first upstream', async () => (await body()) === 'one');

    // What waits while the server is live is named by the admin interface.
    const waits = httpListener([], {
      listener: { name: 'waits' },
      hcm: { ...hcm, rds: { ...hcm.rds, route_config_name: 'absent' } },
    });
    const listeners = [httpListener([], { hcm }), waits].map((each) => resource.listener(each));
    control.set('cluster.v3.Cluster', 'c3', [cluster, { ...cluster, name: 'alone' }]);
    control.set('listener.v3.Listener', 'l2', listeners);
    const dump = await waitUntil('a listener that waits', async () => {
      const { body: text } = await sluice.admin('/init_dump?mask=listener');
      return text.includes('target_names') ? text : undefined;
    });
    assert.match(dump, /init manager Listener-local-init-manager waits \d+"/);
    assert.match(dump, /"shared target RdsRouteConfigSubscription RDS init absent"/);
    assert.doesNotMatch(dump, /init-manager web/);
    const { body: shown } = await sluice.admin('/config_dump');
    assert.match(shown, /"name": "waits",\s+"warming_state"/);
    assert.match(shown, /"dynamic_warming_clusters"/);
    assert.equal(await sluice.stat('cluster.alone.warming_state'), 1);
    assert.equal(await sluice.stat('cluster.up.warming_state'), 0);
  });
});
