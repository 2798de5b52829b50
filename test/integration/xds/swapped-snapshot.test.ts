import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { httpListener, staticCluster } from '../../support/bootstrap.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import { resource } from '../../support/discovery-files.ts';
import { fetchOnce } from '../../support/http-client.ts';
import { ADMIN, startSluice, type Sluice } from '../../support/sluice.ts';
import { startHttpUpstream } from '../../support/upstream.ts';
import { waitUntil } from '../../support/wait.ts';

const ADS = { ads: {}, resource_api_version: 'V3' };
const SWAPS = 6;
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

describe('a snapshot in which every cluster has another name', () => {
  for (const apiType of ['GRPC', 'DELTA_GRPC']) {
    it(`fails no request when it comes over one stream (${apiType})`, async () => {
      await using upstream = await startHttpUpstream((_, response) => response.end('up'));
      await using control = await startControlPlane();
      const set = (version: number): void => {
        const names = Array.from({ length: CLUSTERS }, (_, lane) => `v${version}-${lane}`);
        const cluster = (name: string): object =>
          resource.cluster({
            name,
            type: 'EDS',
            connect_timeout: '1s',
            eds_cluster_config: { eds_config: ADS },
          });
        const endpoints = names.map((name) => resource.endpoints(name, [upstream.port]));
        const routes = names.map((name, lane) => ({
          match: { prefix: `/${lane}` },
          route: { cluster: name },
        }));
        control.set('cluster.v3.Cluster', String(version), names.map(cluster));
        control.set('route.v3.RouteConfiguration', String(version), [
          resource.routes('rc', routes),
        ]);
        control.set('endpoint.v3.ClusterLoadAssignment', String(version), endpoints);
      };
      const hcm = { route_config: undefined, rds: { config_source: ADS, route_config_name: 'rc' } };
      control.set('listener.v3.Listener', '1', [resource.listener(httpListener([], { hcm }))]);
      set(0);
      await using sluice = await startSluice({
        bootstrap: {
          node: { id: 'me', cluster: 'mine' },
          admin: ADMIN,
          static_resources: {
            clusters: [staticCluster('control', [control.port], { http2_protocol_options: {} })],
          },
          dynamic_resources: {
            ads_config: {
              api_type: apiType,
              transport_api_version: 'V3',
              grpc_services: [{ envoy_grpc: { cluster_name: 'control' } }],
            },
            cds_config: ADS,
            lds_config: ADS,
          },
        },
      });
      const load = loadOf(await sluice.listenerPort('web'));
      for (let version = 1; version <= SWAPS; version += 1) {
        const sent = load.sent;
        set(version);
        await waitUntil('the new clusters', async () =>
          (await namesOf(sluice)).every((name) => name.startsWith(`v${version}-`)),
        );
        await waitUntil('some requests', () => load.sent > sent + 20);
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
  }
});
