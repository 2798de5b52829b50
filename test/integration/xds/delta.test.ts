import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { startControlPlane } from '../../support/peers/control-plane.ts';
import { resource } from '../../support/peers/discovery-files.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { ADMIN, startSluice } from '../../support/programs/sluice.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';

const DELTA = {
  api_type: 'DELTA_GRPC',
  transport_api_version: 'V3',
  grpc_services: [{ envoy_grpc: { cluster_name: 'control' } }],
};

function bootstrapOf(port: number, source: object, more: object): object {
  return {
    node: { id: 'me', cluster: 'mine' },
    admin: ADMIN,
    static_resources: {
      clusters: [staticCluster('control', [port], { http2_protocol_options: {} })],
    },
    dynamic_resources: { cds_config: source, lds_config: source, ...more },
  };
}

const SOURCES = {
  'over one stream of all types': {
    source: { ads: {}, resource_api_version: 'V3' },
    more: { ads_config: DELTA },
    control: 'control_plane.',
  },
  'over a stream of each type': {
    source: { api_config_source: DELTA, resource_api_version: 'V3' },
    more: {},
    control: 'cluster_manager.cds.control_plane.',
  },
} as const;

describe('resources by incremental gRPC', () => {
  for (const [title, { source, more, control: prefix }] of Object.entries(SOURCES)) {
    it(`are added, changed, removed, refused and known by version after a reconnect ${title}`, async () => {
      await using one = await startHttpUpstream((_, response) => response.end('one'));
      await using two = await startHttpUpstream((_, response) => response.end('two'));
      await using control = await startControlPlane();
      const cluster = (name: string): object =>
        resource.cluster({
          name,
          type: 'EDS',
          connect_timeout: '1s',
          eds_cluster_config: { eds_config: source },
        });
      const hcm = {
        route_config: undefined,
        rds: { config_source: source, route_config_name: 'rc:80' },
      };
      control.set('cluster.v3.Cluster', 'c1', [cluster('up'), cluster('other')]);
      const endpoints = (ports: readonly number[]): readonly object[] => [
        resource.endpoints('up', ports),
        resource.endpoints('other', [two.port]),
      ];
      control.set('endpoint.v3.ClusterLoadAssignment', 'e1', endpoints([one.port]));
      control.set('listener.v3.Listener', 'l1', [resource.listener(httpListener([], { hcm }))]);
      const toUp = { match: { prefix: '/' }, route: { cluster: 'up' } };
      control.set('route.v3.RouteConfiguration', 'r1', [resource.routes('rc:80', [toUp])]);
      await using sluice = await startSluice({
        bootstrap: bootstrapOf(control.port, source, more),
      });
      const port = await sluice.listenerPort('web');
      const body = async (): Promise<string> => (await fetchOnce({ port, path: '/' })).body;
      assert.equal(await body(), 'one');
      assert.equal(await sluice.stat(`${prefix}connected_state`), 1);

      // One endpoint changes: the other assignment is not sent again.
      control.set('endpoint.v3.ClusterLoadAssignment', 'e2', endpoints([two.port]));
      await waitUntil('the second upstream', async () => (await body()) === 'two');

      control.set('cluster.v3.Cluster', 'c2', [cluster('up')]);
      await waitUntil(
        'the removal',
        async () => !(await sluice.admin('/clusters')).body.includes('other::'),
      );
      // A stream of its own ends with its cluster.
      const isShared = 'ads' in source;
      if (isShared) {
        await waitUntil('the end of interest', () =>
          control.requests.find(({ resource_names_unsubscribe: names }) =>
            names?.includes('other'),
          ),
        );
      }

      control.set('cluster.v3.Cluster', 'c3', [
        cluster('up'),
        resource.cluster({ name: 'bad', type: 'EDS' }),
      ]);
      const refusal = await waitUntil('a refusal', () =>
        control.requests.find(({ error_detail: detail }) => detail !== undefined),
      );
      assert.match(refusal.error_detail?.message ?? '', /cluster\(s\) bad: cannot create an EDS/);

      const before = control.requests.length;
      control.drop();
      const again = await waitUntil('another stream', () =>
        control.requests
          .slice(before)
          .find(({ type_url: url }) => url.endsWith('ClusterLoadAssignment')),
      );
      assert.deepEqual(Object.keys(again.initial_resource_versions ?? {}), ['up']);
      assert.deepEqual(again.resource_names_subscribe, ['up']);
      assert.equal(await body(), 'two');
      assert.ok(control.requests.every(({ node }) => node?.id === 'me'));
      // One of c1, c2, which only takes a cluster away, and c3, of which nothing is taken, counts.
      assert.equal(await sluice.stat('cluster_manager.cds.config_reload'), 1);
      control.set('endpoint.v3.ClusterLoadAssignment', 'e3', endpoints([one.port]));
      await waitUntil('the first upstream', async () => (await body()) === 'one');

      const routes = 'http.web.rds.rc_80';
      const updates = await sluice.stat(`${routes}.update_success`);
      control.set('route.v3.RouteConfiguration', 'r2', []);
      await sluice.waitForStat(`${routes}.update_success`, (count) => count > updates);
      assert.equal(await body(), 'one');
      assert.equal(await sluice.stat(`${routes}.update_empty`), 0);
    });
  }
});
