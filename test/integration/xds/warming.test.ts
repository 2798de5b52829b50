import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { adsBootstrap } from '../../support/peers/ads-bootstrap.ts';
import { httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { startControlPlane, type ControlPlane } from '../../support/peers/control-plane.ts';
import { resource } from '../../support/peers/discovery-files.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { startHttpUpstream, type HttpUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';

/** The checks that wait for an answer. */
type Held = ServerResponse[];

/** Answers checks at once, unless they are to be held. */
function startChecked(name: string, isHeld: () => boolean, held: Held): Promise<HttpUpstream> {
  return startHttpUpstream((request, response) => {
    if (request.url !== '/health') response.end(name);
    else if (isHeld()) held.push(response);
    else response.end();
  });
}

function clusterOf(timeout: string, ports: readonly number[]): object {
  const check = {
    timeout: '30s',
    interval: '60s',
    healthy_threshold: 1,
    unhealthy_threshold: 1,
    http_health_check: { path: '/health' },
  };
  const fields = {
    connect_timeout: timeout,
    common_lb_config: { healthy_panic_threshold: { value: 0 } },
    health_checks: [check],
  };
  return resource.cluster(staticCluster('up', ports, fields));
}

async function warmingTimeouts(sluice: Sluice): Promise<readonly string[]> {
  const { body } = await sluice.admin('/config_dump?resource=dynamic_warming_clusters');
  const dump = JSON.parse(body) as {
    readonly configs?: readonly { readonly cluster: { readonly connect_timeout: string } }[];
  };
  return (dump.configs ?? []).map(({ cluster }) => cluster.connect_timeout);
}

function ackedVersions({ requests }: ControlPlane): readonly (string | undefined)[] {
  return requests
    .filter(({ type_url: url }) => url.endsWith('.Cluster'))
    .map(({ version_info: version }) => version);
}

describe('a cluster with health checks that is changed', () => {
  it('is used when its hosts had their first check; the version before it serves meanwhile', async () => {
    const held: Held = [];
    let isHeld = false;
    await using first = await startChecked('first', () => isHeld, held);
    await using second = await startChecked('second', () => isHeld, held);
    await using plane = await startControlPlane();
    const route = { match: { prefix: '/' }, route: { cluster: 'up' } };
    plane.set('cluster.v3.Cluster', '1', [clusterOf('1s', [first.port])]);
    plane.set('listener.v3.Listener', '1', [resource.listener(httpListener([route]))]);
    await using sluice = await startSluice({
      bootstrap: adsBootstrap(plane.port, { apiType: 'GRPC', hasCds: true }),
      concurrency: 2,
    });
    const port = await waitUntil('the listener', () =>
      sluice.listenerPort('web').catch(() => undefined),
    );
    const ask = async (): Promise<string> => (await fetchOnce({ port, path: '/' })).body;
    assert.equal(await ask(), 'first');

    isHeld = true;
    plane.set('cluster.v3.Cluster', '2', [clusterOf('2s', [second.port])]);
    await waitUntil('a check of the new host', () => held.length === 1);
    assert.equal(await ask(), 'first');
    assert.deepEqual(await warmingTimeouts(sluice), ['2s']);
    assert.equal(await sluice.stat('cluster_manager.warming_clusters'), 1);
    assert.equal(await sluice.stat('cluster_manager.cds.update_success'), 2);
    // A control plane hears that clusters were taken when they may be used.
    assert.deepEqual(ackedVersions(plane), [undefined, '1']);

    // A later version takes the place of the one that warms.
    plane.set('cluster.v3.Cluster', '3', [clusterOf('3s', [first.port, second.port])]);
    await waitUntil('checks of all hosts', () => held.length === 3);
    assert.equal(await ask(), 'first');
    assert.deepEqual(await warmingTimeouts(sluice), ['3s']);
    const ofFirst = held.find(({ socket }) => socket?.localPort === first.port);
    for (const response of held) {
      response.statusCode = response === ofFirst ? 503 : 200;
      response.end();
    }
    // What fails its first check ends the waiting as well.
    await sluice.waitForStat('cluster_manager.warming_clusters', (count) => count === 0);
    await waitUntil('the answer to version 3', () => ackedVersions(plane).length === 3);
    assert.deepEqual(ackedVersions(plane), [undefined, '1', '3']);
    assert.deepEqual(await Promise.all([ask(), ask(), ask()]), ['second', 'second', 'second']);
    assert.equal(await sluice.stat('cluster.up.membership_healthy'), 1);
    assert.equal(await sluice.stat('cluster.up.health_check.attempt'), 4);
  });
});

const SOON_MS = 5_000;

describe('a new listener whose cluster waits for its endpoints', () => {
  const ADS_SOURCE = { ads: {}, resource_api_version: 'V3' };
  const routes = [
    { match: { prefix: '/up' }, route: { cluster: 'up' } },
    { match: { prefix: '/' }, direct_response: { status: 200 } },
  ];
  const byName = {
    route_config: undefined,
    rds: { config_source: ADS_SOURCE, route_config_name: 'rc' },
  };
  for (const [how, listener] of [
    ['of its own', httpListener(routes)],
    ['by name', httpListener([], { hcm: byName })],
  ] as const) {
    it(`serves its other routes at once, with routes ${how}`, async () => {
      await using upstream = await startHttpUpstream((_, response) => response.end('up'));
      await using plane = await startControlPlane();
      plane.set('cluster.v3.Cluster', '1', []);
      plane.set('listener.v3.Listener', '1', []);
      await using sluice = await startSluice({
        bootstrap: adsBootstrap(plane.port, { apiType: 'GRPC', hasCds: true }),
      });
      const eds = { type: 'EDS', eds_cluster_config: { eds_config: ADS_SOURCE } };
      plane.set('cluster.v3.Cluster', '2', [resource.cluster({ name: 'up', ...eds })]);
      plane.set('listener.v3.Listener', '2', [
        resource.listener(JSON.parse(JSON.stringify(listener)) as object),
      ]);
      plane.set('route.v3.RouteConfiguration', '2', [resource.routes('rc', routes)]);
      // Long before routes to it would stop to wait.
      const port = await waitUntil(
        'the listener',
        () => sluice.listenerPort('web').catch(() => undefined),
        SOON_MS,
      );
      const ask = async (path: string): Promise<number> => (await fetchOnce({ port, path })).status;
      await waitUntil('an answer', () => ask('/').catch(() => undefined), SOON_MS);
      assert.deepEqual([await ask('/'), await ask('/up')], [200, 503]);
      assert.equal(await sluice.stat('cluster_manager.warming_clusters'), 1);
      plane.set('endpoint.v3.ClusterLoadAssignment', '2', [
        resource.endpoints('up', [upstream.port]),
      ]);
      await waitUntil('the cluster', async () => (await ask('/up')) === 200);
    });
  }
});

describe('the endpoints of many clusters', () => {
  const CLUSTERS = 400;

  it('are asked for together, when all clusters of an answer are there', async () => {
    await using plane = await startControlPlane();
    const ads = { eds_config: { ads: {}, resource_api_version: 'V3' } };
    const names = Array.from({ length: CLUSTERS }, (_, index) => `c${index}`);
    const clusters = names.map((name) =>
      resource.cluster({ name, type: 'EDS', eds_cluster_config: ads }),
    );
    plane.set('cluster.v3.Cluster', '1', clusters);
    plane.set(
      'endpoint.v3.ClusterLoadAssignment',
      '1',
      names.map((name) => resource.endpoints(name, [1])),
    );
    plane.set('listener.v3.Listener', '1', []);
    await using sluice = await startSluice({
      bootstrap: adsBootstrap(plane.port, { apiType: 'GRPC', hasCds: true }),
    });
    await sluice.waitForStat('cluster_manager.active_clusters', (count) => count > CLUSTERS);
    const asked = plane.requests.filter(({ type_url: url }) => url.endsWith('Assignment'));
    // The question, and the answer to what came.
    assert.ok(asked.length <= 3, String(asked.length));
  });
});
