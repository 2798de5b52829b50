import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adsBootstrap } from '../../support/peers/ads-bootstrap.ts';
import { httpListener } from '../../support/parts/bootstrap.ts';
import { startControlPlane, type ControlPlane } from '../../support/peers/control-plane.ts';
import { resource } from '../../support/peers/discovery-files.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const ADS = { ads: {}, resource_api_version: 'V3' };
const TYPE = 'type.googleapis.com/envoy';
const HOST = `${TYPE}.config.route.v3.VirtualHost`;
const FILTERS = [
  {
    name: 'envoy.filters.http.on_demand',
    typed_config: { '@type': `${TYPE}.extensions.filters.http.on_demand.v3.OnDemand` },
  },
  {
    name: 'envoy.filters.http.router',
    typed_config: { '@type': `${TYPE}.extensions.filters.http.router.v3.Router` },
  },
];

function answering(text: string): readonly object[] {
  const action = { direct_response: { status: 200, body: { inline_string: text } } };
  return [{ match: { prefix: '/' }, ...action }];
}

function host(domain: string, text: string): object {
  return { '@type': HOST, name: domain, domains: [domain], routes: answering(text) };
}

async function start(control: ControlPlane, hcm: object): Promise<Sluice> {
  const web = httpListener([], { hcm: { route_config: undefined, http_filters: FILTERS, ...hcm } });
  control.set('listener.v3.Listener', '1', [resource.listener(web)]);
  return startSluice({
    bootstrap: adsBootstrap(control.port, { apiType: 'DELTA_GRPC' }),
  });
}

describe('routes on demand', () => {
  it('hold a request until its virtual host is there or said to be nowhere', async () => {
    await using control = await startControlPlane();
    control.set('route.v3.RouteConfiguration', '1', [
      { ...resource.routes('rc', []), virtual_hosts: [], vhds: { config_source: ADS } },
    ]);
    const subscribed = async (name: string): Promise<void> => {
      await waitUntil(`a subscription to ${name}`, () =>
        control.requests.some(({ resource_names_subscribe: names = [] }) => names.includes(name)),
      );
    };
    const send = (resources: readonly object[], removed: readonly string[] = []): void =>
      control.sendRaw({
        type_url: HOST,
        system_version_info: '1',
        resources,
        removed_resources: removed,
      });
    const starting = start(control, { rds: { config_source: ADS, route_config_name: 'rc' } });
    await waitUntil('a first question', () =>
      control.requests.some(({ type_url: url }) => url === HOST),
    );
    // What is for other route configurations changes nothing here.
    send([{ name: 'other/a.test', version: '1', resource: host('*', 'other') }]);
    await using sluice = await starting;
    const port = await sluice.listenerPort('web');
    const ask = async (authority: string, body = ''): Promise<string> => {
      const headers = { host: authority };
      const answer = await fetchOnce({ port, path: '/', headers, method: 'POST', body });
      return answer.status === 200 ? answer.body : String(answer.status);
    };
    const waiting = [ask('a.test'), ask('A.test'), ask('a.test', 'x'.repeat(10_000))];
    await subscribed('rc/a.test');
    const name = 'rc/a.test';
    send([{ name, version: '1', aliases: [name], resource: host('a.test', 'a') }]);
    assert.deepEqual(await Promise.all(waiting), ['a', 'a', 'a']);
    assert.equal(await ask('a.test'), 'a');

    const missing = ask('none.test:81');
    await subscribed('rc/none.test:81');
    send([{ name: 'rc/none.test:81', version: '1', aliases: ['rc/none.test:81'] }]);
    assert.equal(await missing, '404');

    send([], [name]);
    control.requests.length = 0;
    await waitUntil('the removal', async () => {
      const { body } = await sluice.admin('/config_dump?resource=dynamic_route_configs');
      return !body.includes('a.test');
    });
    const again = ask('a.test');
    await subscribed(name);
    send([{ name, version: '2', aliases: [name], resource: host('a.test', 'a2') }]);
    assert.equal(await again, 'a2');
    assert.equal(await sluice.stat('http.web.rds.vhds.rc.update_rejected'), 0);
  });

  it('are fetched for a scope when a request is in it', async () => {
    await using control = await startControlPlane();
    const scope = (name: string, key: string): object => ({
      '@type': `${TYPE}.config.route.v3.ScopedRouteConfiguration`,
      name,
      on_demand: true,
      route_configuration_name: name,
      key: { fragments: [{ string_key: key }] },
    });
    control.set('route.v3.ScopedRouteConfiguration', '1', [scope('ra', 'a'), scope('rb', 'b')]);
    control.set('route.v3.RouteConfiguration', '1', [
      resource.routes('ra', answering('a')),
      resource.routes('rb', answering('b')),
    ]);
    const extractor = { name: 'x-scope', index: 0 };
    await using sluice = await start(control, {
      scoped_routes: {
        name: 'sr',
        scope_key_builder: { fragments: [{ header_value_extractor: extractor }] },
        rds_config_source: ADS,
        scoped_rds: { scoped_rds_config_source: ADS },
      },
    });
    const port = await sluice.listenerPort('web');
    const ask = async (key: string): Promise<string> => {
      const answer = await fetchOnce({ port, path: '/', headers: { 'x-scope': key } });
      return answer.status === 200 ? answer.body : String(answer.status);
    };
    const active = (): Promise<unknown> => sluice.stat('http.web.scoped_rds.sr.active_scopes');
    assert.equal(await active(), 0);
    assert.deepEqual(await Promise.all([ask('a'), ask('a'), ask('c')]), ['a', 'a', '404']);
    assert.equal(await active(), 1);
    assert.equal(await ask('b'), 'b');
  });
});
