import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adsBootstrap } from '../../support/peers/ads-bootstrap.ts';
import { httpListener } from '../../support/parts/bootstrap.ts';
import { startControlPlane } from '../../support/peers/control-plane.ts';
import { resource } from '../../support/peers/discovery-files.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const TYPE = 'type.googleapis.com/envoy.config';

/** A refused resource and Envoy's words for it. */
const CLUSTERS: readonly { readonly bad: object; readonly words: string }[] = [
  {
    bad: { connect_timeout: '0s' },
    words:
      'goo.gle/debugstr  \nname: "bad"\nconnect_timeout {\n}\n: Proto constraint validation failed (ClusterValidationError.ConnectTimeout: value must be greater than 0s)',
  },
  {
    bad: { type: 'EDS' },
    words:
      'Error adding/updating cluster(s) bad: cannot create an EDS cluster without an EDS config',
  },
  {
    bad: {
      type: 'EDS',
      eds_cluster_config: { eds_config: { path_config_source: { path: '/nonexistent' } } },
    },
    words:
      "Error adding/updating cluster(s) bad: paths must refer to an existing path in the system: '/nonexistent' does not exist",
  },
  {
    bad: {
      type: 'EDS',
      eds_cluster_config: {
        eds_config: {
          api_config_source: {
            api_type: 'GRPC',
            transport_api_version: 'V3',
            grpc_services: [{ envoy_grpc: { cluster_name: 'nope' } }],
          },
        },
      },
    },
    words:
      "Error adding/updating cluster(s) bad: envoy.config.core.v3.ApiConfigSource must have a statically defined non-EDS cluster: 'nope' does not exist, was added via api, or is an EDS cluster",
  },
];

const direct = httpListener([{ match: { prefix: '/' }, direct_response: { status: 200 } }]);
const LISTENERS: readonly { readonly bad: object; readonly words: string }[] = [
  {
    bad: httpListener([], { hcm: { stream_idle_timeout: '-3s' } }),
    words: 'Error adding/updating listener(s) bad: Invalid duration: Expected positive duration\n',
  },
  {
    bad: httpListener([], { hcm: { stat_prefix: '' } }),
    words:
      'Error adding/updating listener(s) bad: goo.gle/debugstr  \nroute_config {\n  name: "routes"\n  virtual_hosts {\n    name: "all"\n    domains: "*"\n  }\n}\nhttp_filters {\n  name: "envoy.filters.http.router"\n  typed_config {\n    [type.googleapis.com/envoy.extensions.filters.http.router.v3.Router] {\n    }\n  }\n}\n: Proto constraint validation failed (HttpConnectionManagerValidationError.StatPrefix: value length must be at least 1 characters)\n',
  },
  {
    bad: { ...direct, filter_chains: undefined },
    words:
      "Error adding/updating listener(s) bad: error adding listener '127.0.0.1:0': no filter chains specified\n",
  },
];

describe('a resource that cannot be used', () => {
  it("is refused with Envoy's words while the good ones beside it are taken", async () => {
    await using control = await startControlPlane();
    control.set('cluster.v3.Cluster', '0', []);
    control.set('listener.v3.Listener', '0', []);
    await using sluice = await startSluice({
      bootstrap: adsBootstrap(control.port, { apiType: 'GRPC', hasCds: true }),
    });
    const refusal = async (type: string, resources: readonly object[]): Promise<string> => {
      const known = control.requests.length;
      control.sendRaw({ type_url: `${TYPE}.${type}`, version_info: '1', resources });
      const { error_detail: detail } = await waitUntil('a refusal', () =>
        control.requests.slice(known).find(({ error_detail: each }) => each !== undefined),
      );
      return detail?.message ?? '';
    };
    const plain = (message: object): object => JSON.parse(JSON.stringify(message)) as object;
    for (const { bad, words } of CLUSTERS) {
      const cluster = resource.cluster(plain({ name: 'bad', ...bad }));
      assert.equal(await refusal('cluster.v3.Cluster', [cluster]), words);
    }
    for (const { bad, words } of LISTENERS) {
      const listener = resource.listener(plain({ ...bad, name: 'bad' }));
      const good = resource.listener(httpListener([], { name: 'good' }));
      assert.equal(await refusal('listener.v3.Listener', [listener, good]), words);
    }
    assert.ok(await sluice.listenerPort('good'));
    const { body } = await sluice.admin('/config_dump?resource=dynamic_listeners');
    const { configs } = JSON.parse(body) as {
      configs: { name?: string; error_state?: { failed_configuration: object; details: string } }[];
    };
    const shown = configs.find(({ name }) => name === 'bad')?.error_state;
    assert.match(shown?.details ?? '', /no filter chains specified/);
    assert.ok(shown?.failed_configuration && '@type' in shown.failed_configuration);
    assert.equal(await sluice.stat('cluster_manager.cluster_added'), CLUSTERS.length);
  });
});
