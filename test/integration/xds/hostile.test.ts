import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { staticCluster } from '../../support/parts/bootstrap.ts';
import {
  startControlPlane,
  typeUrlOf,
  type ControlPlane,
} from '../../support/peers/control-plane.ts';
import { resource } from '../../support/peers/discovery-files.ts';
import { ADMIN, startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const ADS = { ads: {}, resource_api_version: 'V3', initial_fetch_timeout: '15s' };
const IMPATIENT = { ...ADS, initial_fetch_timeout: '0.3s' };
const CLUSTER = 'cluster.v3.Cluster';
const LISTENER = 'listener.v3.Listener';

function start(
  control: ControlPlane,
  apiType = 'GRPC',
  source = ADS,
  fields: object = {},
): Promise<Sluice> {
  return startSluice({
    concurrency: 2,
    bootstrap: {
      node: { id: 'me', cluster: 'mine' },
      admin: ADMIN,
      static_resources: { clusters: [staticCluster('control', [control.port])] },
      dynamic_resources: {
        ads_config: {
          api_type: apiType,
          transport_api_version: 'V3',
          grpc_services: [{ envoy_grpc: { cluster_name: 'control', ...fields } }],
        },
        cds_config: source,
        lds_config: source,
      },
    },
  });
}

function clusterOf(name: string, timeoutMs: number): object {
  return resource.cluster({ name, type: 'STATIC', connect_timeout: `${timeoutMs / 1000}s` });
}

function routesOf(text: string): object {
  const action = { direct_response: { status: 200, body: { inline_string: text } } };
  return resource.routes('rc', [{ match: { prefix: '/' }, ...action }]);
}

/** Name and connect timeout of every cluster that came over the stream. */
async function clustersOf(sluice: Sluice): Promise<Readonly<Record<string, string>>> {
  const { body } = await sluice.admin('/config_dump?resource=dynamic_active_clusters');
  const { configs = [] } = JSON.parse(body) as {
    configs?: { cluster: { name: string; connect_timeout: string } }[];
  };
  return Object.fromEntries(configs.map(({ cluster }) => [cluster.name, cluster.connect_timeout]));
}

describe('a control plane that misbehaves', () => {
  it('changes nothing by answers that nobody asked for, that are no answers, or that come again', async () => {
    await using control = await startControlPlane();
    control.set(CLUSTER, '1', [clusterOf('a', 1000)]);
    control.set(LISTENER, '1', []);
    await using sluice = await start(control);
    const before = await clustersOf(sluice);
    control.sendRaw({ type_url: 'type.googleapis.com/no.such.Type', version_info: '9' });
    control.sendRaw({ version_info: '9' });
    const type = { type_url: typeUrlOf(CLUSTER) };
    const repeated = {
      ...type,
      version_info: '1',
      nonce: 'same',
      resources: [clusterOf('a', 1000)],
    };
    for (let count = 0; count < 5; count += 1) control.sendRaw(repeated);
    const twice = [clusterOf('a', 1000), clusterOf('a', 2)];
    control.sendRaw({ ...type, version_info: '2', resources: twice });
    control.sendRaw({ ...type, version_info: '3', resources: [routesOf('x')] });
    control.sendRaw({ ...type, version_info: '4', resources: [resource.cluster({ name: '' })] });
    const refusals = await waitUntil('three refusals', () => {
      const seen = control.requests.flatMap(({ error_detail: detail }) => detail?.message ?? []);
      return seen.length === 3 ? seen : undefined;
    });
    assert.match(refusals[0] ?? '', /a: duplicate cluster a found/);
    assert.match(refusals[1] ?? '', /RouteConfiguration does not match the message-wide type URL/);
    assert.deepEqual(await clustersOf(sluice), before);
    assert.equal(await sluice.stat('cluster_manager.cds.update_rejected'), 3);
  });

  it('is answered more and more slowly when it sends again what was refused', async () => {
    await using control = await startControlPlane();
    control.set(CLUSTER, '1', [clusterOf('a', 1000)]);
    control.set(LISTENER, '1', []);
    await using sluice = await start(control);
    let sent = 0;
    let answered = 0;
    const bad = {
      type_url: typeUrlOf(CLUSTER),
      version_info: '2',
      resources: [resource.cluster({})],
    };
    await waitUntil('six refusals', () => {
      const refused = control.requests.filter(({ error_detail: detail }) => detail !== undefined);
      answered = refused.length;
      if (sent === answered) {
        sent += 1;
        control.sendRaw(bad);
      }
      return answered === 6;
    });
    // The seventh is under way.
    const startedMs = performance.now();
    await waitUntil('one more', () => {
      return control.requests.filter(({ error_detail: d }) => d !== undefined).length > answered;
    });
    assert.ok(performance.now() - startedMs > 300);
    assert.equal(await sluice.stat('cluster_manager.cds.update_rejected'), 7);
  });

  it('leaves a server without an answer at its configuration, and a restart without it serves', async () => {
    const silent = await startControlPlane();
    {
      await using sluice = await start(silent, 'GRPC', IMPATIENT);
      assert.equal(await sluice.stat('cluster_manager.cds.init_fetch_timeout'), 1);
      assert.equal(await sluice.stat('control_plane.connected_state'), 1);
      assert.equal((await sluice.admin('/ready')).status, 200);
    }
    await silent[Symbol.asyncDispose]();
    const often = { retry_back_off: { base_interval: '0.002s', max_interval: '0.01s' } };
    await using sluice = await start(silent, 'GRPC', IMPATIENT, { retry_policy: often });
    // It is 1 while a try is under way.
    const state = (): Promise<number | undefined> => sluice.stat('control_plane.connected_state');
    await waitUntil('no stream', async () => (await state()) === 0);
    // By default there would be some six in this time.
    const tries = (): Promise<number | undefined> =>
      sluice.stat('cluster.control.upstream_cx_total');
    await waitUntil('many tries', async () => ((await tries()) ?? 0) >= 10, 10_000);
    assert.equal((await sluice.admin('/ready')).status, 200);
  });
});
