import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adsBootstrap } from '../../support/peers/ads-bootstrap.ts';
import { httpListener } from '../../support/parts/bootstrap.ts';
import { startControlPlane, typeUrlOf } from '../../support/peers/control-plane.ts';
import { resource } from '../../support/peers/discovery-files.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const CLUSTER = 'cluster.v3.Cluster';
const LISTENER = 'listener.v3.Listener';
const CLUSTERS = 'xdstp://auth/envoy.config.cluster.v3.Cluster/mine/';
const LISTENERS = 'xdstp://auth/envoy.config.listener.v3.Listener/mine/';
const NODE = 'xds.node.cluster=mine';

describe('collections of resources', () => {
  it('are asked for with their context, and hold what has a name in their folder', async () => {
    await using control = await startControlPlane();
    const { dynamic_resources: dynamic, ...rest } = adsBootstrap(control.port, {
      apiType: 'DELTA_GRPC',
      hasCds: true,
    }) as { readonly dynamic_resources: object };
    const starting = startSluice({
      bootstrap: {
        ...rest,
        node_context_params: ['cluster'],
        dynamic_resources: {
          ...dynamic,
          cds_resources_locator: `${CLUSTERS}*?z=1&a=2`,
          lds_resources_locator: `${LISTENERS}*`,
        },
      },
    });
    const asked = async (kind: string): Promise<readonly string[]> => {
      const { resource_names_subscribe: names = [] } = await waitUntil('the question', () =>
        control.requests.find(({ type_url: url }) => url === typeUrlOf(kind)),
      );
      return names;
    };
    const send = (
      kind: string,
      named: Readonly<Record<string, object>>,
      gone: string[] = [],
    ): void =>
      control.sendRaw({
        type_url: typeUrlOf(kind),
        system_version_info: '1',
        resources: Object.entries(named).map(([name, each]) => ({
          name,
          version: '1',
          resource: each,
        })),
        removed_resources: gone,
      });
    const cluster = (name: string): object => resource.cluster({ name, type: 'STATIC' });
    assert.deepEqual(await asked(CLUSTER), [`${CLUSTERS}*?a=2&${NODE}&z=1`]);
    const here = `?z=1&${NODE}&a=2`;
    send(CLUSTER, {
      [`${CLUSTERS}one${here}`]: cluster(`${CLUSTERS}one${here}`),
      [`${CLUSTERS}two${here}`]: cluster('two'),
      [`${CLUSTERS}deeper/three${here}`]: cluster('three'),
      [`${CLUSTERS}four`]: cluster('four'),
      five: cluster('five'),
    });
    assert.deepEqual(await asked(LISTENER), [`${LISTENERS}*?${NODE}`]);
    const route = { match: { prefix: '/' }, direct_response: { status: 200 } };
    const web = resource.listener(httpListener([route]));
    send(LISTENER, { [`${LISTENERS}web?${NODE}`]: web });
    await using sluice = await starting;
    assert.ok((await sluice.listenerPort('web')) > 0);
    const clusters = async (): Promise<readonly string[]> => {
      const { body } = await sluice.admin('/config_dump?resource=dynamic_active_clusters');
      const { configs = [] } = JSON.parse(body) as {
        readonly configs?: readonly { readonly cluster: { readonly name: string } }[];
      };
      return configs.map((each) => each.cluster.name).toSorted();
    };
    assert.deepEqual(await clusters(), ['two', `${CLUSTERS}one${here}`]);

    control.drop();
    const again = await waitUntil('another stream', () =>
      control.requests.findLast(({ initial_resource_versions: versions }) =>
        Object.keys(versions ?? {}).some((name) => name.startsWith(CLUSTERS)),
      ),
    );
    const sorted = `?a=2&${NODE}&z=1`;
    assert.deepEqual(again.initial_resource_versions, {
      [`${CLUSTERS}one${sorted}`]: '1',
      [`${CLUSTERS}two${sorted}`]: '1',
    });
    assert.equal(await sluice.stat('cluster_manager.cds.update_rejected'), 0);
  });
});
