/** `/config_dump?format=bootstrap`: a server without the control plane serves the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { adsBootstrap } from '../../support/peers/ads-bootstrap.ts';
import { httpListener } from '../../support/parts/bootstrap.ts';
import { startControlPlane } from '../../support/peers/control-plane.ts';
import { resource } from '../../support/peers/discovery-files.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';

const ADS = { ads: {}, resource_api_version: 'V3' };

async function answers(sluice: Sluice): Promise<readonly string[]> {
  const port = await sluice.listenerPort('web');
  return await Promise.all(
    ['/', '/direct', '/absent'].map(async (path) => {
      const { status, body } = await fetchOnce({ port, path });
      return `${status} ${body}`;
    }),
  );
}

interface Dump {
  readonly configs: readonly Readonly<Record<string, unknown>>[];
}

/** The names and route tables that a dump shows, from wherever they came. */
async function shown(sluice: Sluice): Promise<unknown> {
  const { configs } = JSON.parse((await sluice.admin('/config_dump')).body) as Dump;
  const lists = configs.flatMap((section) => Object.entries(section));
  const all = (field: RegExp, member: string): readonly Readonly<Record<string, unknown>>[] =>
    lists
      .filter(([name]) => field.test(name))
      .flatMap(([, list]) => list as readonly Record<string, Record<string, unknown>>[])
      .flatMap((each) => each[member] ?? each['active_state']?.[member] ?? []) as never;
  return {
    clusters: new Set(all(/_clusters$/, 'cluster').map(({ name }) => name)),
    listeners: all(/_listeners$/, 'listener').map(({ name }) => name),
    routes: all(/_route_configs$/, 'route_config'),
  };
}

test('what a control plane gave is one file that serves the same', async () => {
  await using upstream = await startHttpUpstream((_, response) => response.end('one'));
  await using control = await startControlPlane();
  const cluster = resource.cluster({
    name: 'up',
    type: 'EDS',
    connect_timeout: '1s',
    eds_cluster_config: { eds_config: ADS, service_name: 'hosts' },
  });
  const hcm = { route_config: undefined, rds: { config_source: ADS, route_config_name: 'rc' } };
  const routes = [
    { match: { path: '/' }, route: { cluster: 'up' } },
    { match: { path: '/direct' }, direct_response: { status: 203, body: { inline_string: 'd' } } },
  ];
  control.set('cluster.v3.Cluster', 'c1', [cluster]);
  control.set('endpoint.v3.ClusterLoadAssignment', 'e1', [
    resource.endpoints('hosts', [upstream.port]),
  ]);
  control.set('listener.v3.Listener', 'l1', [resource.listener(httpListener([], { hcm }))]);
  control.set('route.v3.RouteConfiguration', 'r1', [resource.routes('rc', routes)]);
  await using original = await startSluice({
    bootstrap: adsBootstrap(control.port, { apiType: 'GRPC', hasCds: true }),
  });
  const served = await answers(original);
  assert.deepEqual(served, ['200 one', '203 d', '404 ']);
  const { body } = await original.admin('/config_dump?format=bootstrap');
  await control[Symbol.asyncDispose]();
  await using copy = await startSluice({ bootstrap: JSON.parse(body) as object });
  assert.deepEqual(await answers(copy), served);
  assert.deepEqual(await shown(copy), await shown(original));

  const tagged = await original.admin('/config_dump?etag');
  const tag = String(tagged.headers['etag']);
  const again = (given: string) =>
    original.admin({ path: '/config_dump', headers: { 'if-none-match': given } });
  assert.deepEqual([(await again(tag)).status, (await again(tag)).body], [304, '']);
  assert.equal((await again('"other"')).status, 200);
  const plain = await original.admin('/config_dump');
  assert.equal(plain.headers['etag'], undefined);
  assert.equal(plain.body, tagged.body);
  const yaml = await original.admin('/config_dump?format=yaml');
  assert.deepEqual(parse(yaml.body), JSON.parse(plain.body));
  const page = await original.admin('/config_dump?resource=static_clusters&offset=1&limit=1');
  const { configs = [] } = JSON.parse(page.body) as Partial<Dump>;
  assert.ok(configs.length <= 1);
});
