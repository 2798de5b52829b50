import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adsBootstrap } from '../../support/peers/ads-bootstrap.ts';
import { httpListener } from '../../support/parts/bootstrap.ts';
import { startControlPlane } from '../../support/peers/control-plane.ts';
import { resource } from '../../support/peers/discovery-files.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { ADMIN, startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const ADS = { ads: {}, resource_api_version: 'V3' };
const BUILDER = {
  fragments: [
    {
      header_value_extractor: {
        name: 'X-Scope',
        element_separator: ';',
        element: { key: 'v', separator: '=' },
      },
    },
  ],
};

function routes(name: string, text: string): object {
  const action = { direct_response: { status: 200, body: { inline_string: text } } };
  return resource.routes(name, [{ match: { prefix: '/' }, ...action }]);
}

function scope(name: string, key: string, of: object): object {
  return {
    '@type': 'type.googleapis.com/envoy.config.route.v3.ScopedRouteConfiguration',
    name,
    key: { fragments: [{ string_key: key }] },
    ...of,
  };
}

function plain(message: object): object {
  const { '@type': _, ...rest } = message as Record<string, unknown>;
  return rest;
}

describe('routes by scope', () => {
  it('come from a control plane, by name or inside their scope, and change with it', async () => {
    await using control = await startControlPlane();
    const set = {
      scopes: (version: string, scopes: readonly object[]): void =>
        control.set('route.v3.ScopedRouteConfiguration', version, scopes),
      routes: (version: string, all: readonly object[]): void =>
        control.set('route.v3.RouteConfiguration', version, all),
    };
    const scoped_routes = {
      name: 'sr',
      scope_key_builder: BUILDER,
      rds_config_source: ADS,
      scoped_rds: { scoped_rds_config_source: ADS },
    };
    const hcm = { route_config: undefined, scoped_routes };
    control.set('listener.v3.Listener', '1', [resource.listener(httpListener([], { hcm }))]);
    set.routes('1', [routes('ra', 'a'), routes('rb', 'b')]);
    set.scopes('1', [
      scope('s1', 'a', { route_configuration_name: 'ra' }),
      scope('s2', 'b', { route_configuration_name: 'rb' }),
    ]);
    await using sluice = await startSluice({
      bootstrap: adsBootstrap(control.port, { apiType: 'DELTA_GRPC' }),
    });
    const port = await sluice.listenerPort('web');
    const ask = async (value: string): Promise<string> => {
      const headers = { 'x-scope': value };
      const { status, body } = await fetchOnce({ port, path: '/', headers });
      return status === 200 ? body : String(status);
    };
    assert.deepEqual(await Promise.all(['v=a', 'k;v=b', 'v=c', ''].map(ask)), [
      'a',
      'b',
      '404',
      '404',
    ]);
    const stat = (name: string): Promise<number | string | undefined> =>
      sluice.stat(`http.web.scoped_rds.sr.${name}`);
    assert.equal(await stat('active_scopes'), 2);

    set.scopes('2', [
      scope('s1', 'a', { route_configuration: plain(routes('', 'inline')) }),
      scope('s3', 'c', { route_configuration_name: 'rb' }),
    ]);
    await waitUntil('the new scope', async () => (await ask('v=c')) === 'b');
    assert.deepEqual(await Promise.all(['v=a', 'v=b'].map(ask)), ['inline', '404']);
    const { body } = await sluice.admin('/config_dump?resource=dynamic_scoped_route_configs');
    const [dumped] = (JSON.parse(body) as { configs: { name: string; version_info: string }[] })
      .configs;
    assert.deepEqual([dumped?.name, dumped?.version_info], ['sr', '2']);

    const same = { route_configuration_name: 'rb' };
    set.scopes('3', [scope('s1', 'k', same), scope('s3', 'k', same)]);
    const refusal = await waitUntil('a refusal', () =>
      control.requests.find(({ error_detail: detail }) => detail !== undefined),
    );
    assert.match(refusal.error_detail?.message ?? '', /scope key conflict found, first scope is/);
    assert.equal(await ask('v=c'), 'b');
    assert.equal(await stat('update_rejected'), 1);
  });

  it('stand in the listener itself', async () => {
    const scopes = [
      plain(scope('s1', 'a', { route_configuration: plain(routes('ra', 'a')) })),
      plain(scope('s2', 'ü', { route_configuration: plain(routes('rb', 'b')) })),
    ];
    const scoped_routes = {
      name: 'sr',
      scope_key_builder: { fragments: [{ header_value_extractor: { name: 'x-scope', index: 0 } }] },
      scoped_route_configurations_list: { scoped_route_configurations: scopes },
    };
    const hcm = { route_config: undefined, scoped_routes };
    const bootstrap = {
      admin: ADMIN,
      static_resources: { listeners: [httpListener([], { hcm })] },
    };
    await using sluice = await startSluice({ bootstrap });
    const port = await sluice.listenerPort('web');
    const ask = async (value: string): Promise<string> => {
      const headers = { 'x-scope': value };
      const { status, body } = await fetchOnce({ port, path: '/', headers });
      return status === 200 ? body : String(status);
    };
    const bytes = Buffer.from('ü').toString('latin1');
    assert.deepEqual(await Promise.all(['a', bytes, 'b'].map(ask)), ['a', 'b', '404']);
    const { body } = await sluice.admin('/config_dump?resource=inline_scoped_route_configs');
    assert.match(body, /"name": "sr"/);
  });
});
