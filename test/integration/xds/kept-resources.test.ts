import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { describe, it } from 'node:test';
import { httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { startControlPlane } from '../../support/peers/control-plane.ts';
import { resource } from '../../support/peers/discovery-files.ts';
import { makeEpochs } from '../../support/programs/epochs.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';

const ADS = { ads: {}, resource_api_version: 'V3' };

describe('a restart while the control plane is down', () => {
  it('goes on with what the parent had, where a file is named that keeps it', async () => {
    await using upstream = await startHttpUpstream((_, response) => response.end('up'));
    await using epochs = await makeEpochs();
    const control = await startControlPlane();
    const cluster = {
      name: 'up',
      type: 'EDS',
      connect_timeout: '1s',
      eds_cluster_config: { eds_config: ADS },
    };
    control.set('cluster.v3.Cluster', 'c7', [resource.cluster(cluster)]);
    control.set('endpoint.v3.ClusterLoadAssignment', 'e7', [
      resource.endpoints('up', [upstream.port]),
    ]);
    const hcm = { route_config: undefined, rds: { config_source: ADS, route_config_name: 'rc' } };
    const address = { socket_address: { address: '127.0.0.1', port_value: epochs.port } };
    const web = httpListener([], { hcm, listener: { address } });
    control.set('listener.v3.Listener', 'l7', [resource.listener(web)]);
    const toUp = { match: { prefix: '/' }, route: { cluster: 'up' } };
    control.set('route.v3.RouteConfiguration', 'r7', [resource.routes('rc', [toUp])]);
    const kept = epochs.scratch.file('kept');
    const more = {
      env: { SLUICE_XDS_KEEP_PATH: kept },
      bootstrap: {
        node: { id: 'me', cluster: 'mine' },
        admin: {
          address: { socket_address: { address: '127.0.0.1', port_value: epochs.adminPort } },
        },
        static_resources: {
          clusters: [staticCluster('control', [control.port], { http2_protocol_options: {} })],
        },
        dynamic_resources: {
          ads_config: {
            api_type: 'GRPC',
            transport_api_version: 'V3',
            grpc_services: [{ envoy_grpc: { cluster_name: 'control' } }],
          },
          cds_config: ADS,
          lds_config: ADS,
        },
      },
    };
    const parent = await epochs.start(0, more);
    const body = async (): Promise<string> =>
      (await fetchOnce({ port: epochs.port, path: '/' })).body;
    await waitUntil('an answer', async () => (await body()) === 'up');
    await waitUntil(
      'the file',
      () => existsSync(kept) && /"key":"route/.test(readFileSync(kept, 'utf8')),
    );
    assert.equal(statSync(kept).mode & 0o777, 0o600);
    await control[Symbol.asyncDispose]();

    let isOver = false;
    const failures: string[] = [];
    const load = (async () => {
      while (!isOver) {
        const answer = await fetchOnce({ port: epochs.port, path: '/' });
        if (answer.body !== 'up') failures.push(`${answer.status} ${answer.body}`);
      }
    })();
    const child = await epochs.start(1, more);
    await parent.exited();
    assert.equal(await body(), 'up');
    isOver = true;
    await load;
    assert.deepEqual(failures, []);
    const { body: dump } = await child.admin('/config_dump?resource=dynamic_active_clusters');
    assert.match(dump, /"version_info": "c7"/);
    // It is 1 while a try is under way.
    await child.waitForStat('control_plane.connected_state', (state) => state === 0);
  });
});
