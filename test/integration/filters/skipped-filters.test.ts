import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adsBootstrap } from '../../support/peers/ads-bootstrap.ts';
import { bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { startControlPlane } from '../../support/peers/control-plane.ts';
import { resource } from '../../support/peers/discovery-files.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startSluice } from '../../support/programs/sluice.ts';

const HTTP = 'type.googleapis.com/envoy.extensions.filters.http';

const ROUTER = {
  name: 'envoy.filters.http.router',
  typed_config: { '@type': `${HTTP}.router.v3.Router` },
};
const STATS = {
  name: 'istio.stats',
  typed_config: {
    '@type': 'type.googleapis.com/xds.type.v3.TypedStruct',
    type_url: 'type.googleapis.com/stats.PluginConfig',
    value: {},
  },
};

function observedListener(name: string): object {
  const routes = [{ match: { prefix: '/' }, direct_response: { status: 200 } }];
  return { ...httpListener(routes, { hcm: { http_filters: [STATS, ROUTER] } }), name };
}

describe('--unsupported-filters', () => {
  it('leaves out filters that only observe, and says so', async () => {
    const args = ['--unsupported-filters', 'skip'];
    const file = bootstrap({ listeners: [observedListener('web')] });
    await using sluice = await startSluice({ bootstrap: file, args });
    const port = await sluice.listenerPort('web');
    assert.equal((await fetchOnce({ port })).status, 200);
    assert.match(
      sluice.stderr(),
      /HTTP filter 'istio.stats' of type 'stats.PluginConfig' is left out/,
    );
    assert.equal(await sluice.stat('sluice.filters_skipped'), 1);
    const page = JSON.parse((await sluice.admin('/filters')).body) as { skipped: unknown };
    const left = {
      kind: 'listener',
      resource: 'web',
      name: 'istio.stats',
      type: 'stats.PluginConfig',
    };
    assert.deepEqual(page.skipped, [left]);
  });

  it('counts each listener of a control plane, and warns once', async () => {
    await using control = await startControlPlane();
    const file = adsBootstrap(control.port, { apiType: 'GRPC' });
    const listeners = ['web', 'other'].map((name) => resource.listener(observedListener(name)));
    control.set('listener.v3.Listener', '1', listeners);
    const args = ['--unsupported-filters', 'skip'];
    await using sluice = await startSluice({ bootstrap: file, args });
    await sluice.waitForStat('sluice.filters_skipped', (count) => count === 2);
    assert.equal((await fetchOnce({ port: await sluice.listenerPort('other') })).status, 200);
    assert.equal(sluice.stderr().split('is left out').length, 2);
  });
});
