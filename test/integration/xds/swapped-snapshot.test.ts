import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adsBootstrap, type AdsOptions } from '../../support/peers/ads-bootstrap.ts';
import { httpListener } from '../../support/parts/bootstrap.ts';
import { startControlPlane, type ControlPlane } from '../../support/peers/control-plane.ts';
import { resource } from '../../support/peers/discovery-files.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';

const ADS = { ads: {}, resource_api_version: 'V3' };
const SWAPS = 24;
/** Between those that are waited for come others that follow each other closely. */
const WAITED_EVERY = 6;
const CLUSTERS = 3;

/** Requests without a pause, on new connections, until told to stop. */
function loadOf(port: number): { stop(): Promise<readonly string[]>; readonly sent: number } {
  const failures: string[] = [];
  let isOver = false;
  let sent = 0;
  const one = async (lane: number): Promise<void> => {
    while (!isOver) {
      sent += 1;
      const { status, body } = await fetchOnce({ port, path: `/${lane}` });
      if (status !== 200) failures.push(`${status} ${body}`);
    }
  };
  const lanes = Promise.all(Array.from({ length: CLUSTERS }, (_, lane) => one(lane)));
  return {
    get sent() {
      return sent;
    },
    stop: async () => {
      isOver = true;
      await lanes;
      return failures;
    },
  };
}

async function namesOf(sluice: Sluice): Promise<readonly string[]> {
  const { body } = await sluice.admin('/config_dump?resource=dynamic_active_clusters');
  const { configs = [] } = JSON.parse(body) as { configs?: { cluster: { name: string } }[] };
  return configs.map(({ cluster }) => cluster.name).toSorted();
}

/** All clusters of this version are in use, and no others. */
async function waitForVersion(sluice: Sluice, version: number): Promise<void> {
  const names = namesIn(version).join();
  await waitUntil('the new clusters', async () => (await namesOf(sluice)).join() === names);
}

function namesIn(version: number): readonly string[] {
  return Array.from({ length: CLUSTERS }, (_, lane) => `v${version}-${lane}`);
}

function setClustersAndRoutes(control: ControlPlane, version: number): void {
  const clusters = namesIn(version).map((name) =>
    resource.cluster({
      name,
      type: 'EDS',
      connect_timeout: '1s',
      eds_cluster_config: { eds_config: ADS },
    }),
  );
  const routes = namesIn(version).map((name, lane) => ({
    match: { prefix: `/${lane}` },
    route: { cluster: name },
  }));
  control.set('cluster.v3.Cluster', String(version), clusters);
  control.set('route.v3.RouteConfiguration', String(version), [resource.routes('rc', routes)]);
}

function setSnapshot(control: ControlPlane, version: number, port: number): void {
  setClustersAndRoutes(control, version);
  const endpoints = namesIn(version).map((name) => resource.endpoints(name, [port]));
  control.set('endpoint.v3.ClusterLoadAssignment', String(version), endpoints);
}

async function startWith(control: ControlPlane, apiType: AdsOptions['apiType']): Promise<Sluice> {
  const hcm = { route_config: undefined, rds: { config_source: ADS, route_config_name: 'rc' } };
  control.set('listener.v3.Listener', '1', [resource.listener(httpListener([], { hcm }))]);
  const options = { apiType, hasCds: true } as const;
  return await startSluice({ bootstrap: adsBootstrap(control.port, options) });
}

describe('a snapshot in which every cluster has another name', () => {
  for (const apiType of ['GRPC', 'DELTA_GRPC'] as const) {
    it(`fails no request when it comes over one stream (${apiType})`, async () => {
      await using upstream = await startHttpUpstream((_, response) => response.end('up'));
      await using control = await startControlPlane();
      setSnapshot(control, 0, upstream.port);
      await using sluice = await startWith(control, apiType);
      const load = loadOf(await sluice.listenerPort('web'));
      for (let version = 1; version <= SWAPS; version += 1) {
        const sent = load.sent;
        setSnapshot(control, version, upstream.port);
        if (version % WAITED_EVERY === 0) await waitForVersion(sluice, version);
        await waitUntil('some requests', () => load.sent > sent + (version % WAITED_EVERY));
      }
      assert.deepEqual(await load.stop(), []);
      assert.equal(await sluice.stat('cluster_manager.active_clusters'), CLUSTERS + 1);
      const { body } = await sluice.admin('/clusters');
      assert.ok(!body.includes('v0-0'));
      // What nobody names any more is gone from the workers too.
      await waitUntil('the old statistics gone', async () => {
        const stats = await sluice.admin(`/stats?filter=cluster.v${SWAPS - 1}-0.membership_total`);
        return !stats.body.includes('membership_total: 1');
      });
    });

    it(`fails no request when it follows one whose clusters are not warm yet (${apiType})`, async () => {
      await using upstream = await startHttpUpstream((_, response) => response.end('up'));
      await using control = await startControlPlane();
      setSnapshot(control, 0, upstream.port);
      await using sluice = await startWith(control, apiType);
      const load = loadOf(await sluice.listenerPort('web'));
      setClustersAndRoutes(control, 1);
      // Routes are accepted at once, and used when their clusters are there.
      await sluice.waitForStat('http.web.rds.rc.update_success', (value) => value >= 2);
      setSnapshot(control, 2, upstream.port);
      await waitForVersion(sluice, 2);
      await waitUntil('the new routes', async () => {
        const { body } = await sluice.admin('/config_dump?resource=dynamic_route_configs');
        return body.includes('"cluster": "v2-0"');
      });
      const { sent } = load;
      await waitUntil('some requests', () => load.sent > sent + 20);
      assert.deepEqual(await load.stop(), []);
    });
  }
});
