import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { startControlPlane } from '../../support/peers/control-plane.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { ADMIN, startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const EXTENSION = 'envoy.config.core.v3.TypedExtensionConfig';
const FILTERS = 'type.googleapis.com/envoy.extensions.filters.http';
const MUTATION = `${FILTERS}.header_mutation.v3.HeaderMutation`;
const ROUTER = { '@type': `${FILTERS}.router.v3.Router` };

/** Adds a response header. */
function mutation(value: string): object {
  const append = { header: { key: 'x-from', value } };
  return { '@type': MUTATION, mutations: { response_mutations: [{ append }] } };
}

function extension(config: object): object {
  return { '@type': `type.googleapis.com/${EXTENSION}`, name: 'late', typed_config: config };
}

function bootstrapOf(
  port: number,
  apiType: string,
  discovery: object,
  fetchTimeout = '0.3s',
): object {
  const route = { match: { prefix: '/' }, direct_response: { status: 200 } };
  const filters = [
    {
      name: 'late',
      config_discovery: {
        config_source: { ads: {}, resource_api_version: 'V3', initial_fetch_timeout: fetchTimeout },
        type_urls: [MUTATION],
        ...discovery,
      },
    },
    { name: 'envoy.filters.http.router', typed_config: ROUTER },
  ];
  return {
    node: { id: 'me', cluster: 'mine' },
    admin: ADMIN,
    static_resources: {
      clusters: [staticCluster('control', [port])],
      listeners: [httpListener([route], { hcm: { http_filters: filters } })],
    },
    dynamic_resources: {
      ads_config: {
        api_type: apiType,
        transport_api_version: 'V3',
        grpc_services: [{ envoy_grpc: { cluster_name: 'control' } }],
      },
    },
  };
}

describe('HTTP filters whose settings come from a control plane', () => {
  for (const apiType of ['GRPC', 'DELTA_GRPC']) {
    it(`change for the next request of open connections, and are refused by the reason over ${apiType}`, async () => {
      await using control = await startControlPlane();
      control.set(EXTENSION, '1', [extension(mutation('one'))]);
      await using sluice = await startSluice({
        bootstrap: bootstrapOf(control.port, apiType, {}, '10s'),
      });
      const port = await sluice.listenerPort('web');
      const open = await openRaw(port);
      const ask = async (): Promise<string> => {
        const seen = open.received().length;
        open.send('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
        await open.until((text) => text.slice(seen).includes('\r\n\r\n'));
        return /x-from: (\w+)/.exec(open.received().slice(seen))?.[1] ?? '';
      };
      assert.equal(await ask(), 'one');
      control.set(EXTENSION, '2', [extension(mutation('two'))]);
      await waitUntil('the second settings', async () => (await ask()) === 'two');
      control.set(EXTENSION, '3', [extension(ROUTER)]);
      const refusal = await waitUntil('the refusal', () =>
        control.requests.find(({ error_detail: detail }) => detail !== undefined),
      );
      assert.match(
        refusal.error_detail?.message ?? '',
        /filter config has type URL envoy.extensions.filters.http.router.v3.Router but expect envoy/,
      );
      assert.equal(await ask(), 'two');
      const prefix = 'extension_config_discovery.http_filter.late';
      assert.equal(await sluice.stat(`${prefix}.config_reload`), 2);
      assert.equal(await sluice.stat(`${prefix}.config_fail`), 1);
      const dump = JSON.parse((await sluice.admin('/config_dump?resource=ecds_filters')).body) as {
        readonly configs: readonly {
          readonly last_updated: string;
          readonly version_info: string;
        }[];
      };
      const { '@type': type, ...settings } = extension(mutation('two')) as Record<string, unknown>;
      assert.deepEqual(dump.configs, [
        {
          '@type': 'type.googleapis.com/envoy.admin.v3.EcdsConfigDump.EcdsFilterConfig',
          // An incremental control plane gives each resource a version of its own.
          version_info: apiType === 'GRPC' ? '2' : dump.configs[0]?.version_info,
          ecds_filter: { '@type': type, ...settings },
          last_updated: dump.configs[0]?.last_updated,
        },
      ]);
      open.destroy();
    });
  }

  it('serve by their default until settings are there, and refuse requests without one', async () => {
    await using control = await startControlPlane();
    const fallback = { default_config: mutation('default') };
    {
      await using sluice = await startSluice({
        bootstrap: bootstrapOf(control.port, 'GRPC', fallback),
      });
      const port = await sluice.listenerPort('web');
      assert.equal((await fetchOnce({ port, path: '/' })).headers['x-from'], 'default');
    }
    await using sluice = await startSluice({ bootstrap: bootstrapOf(control.port, 'GRPC', {}) });
    const port = await sluice.listenerPort('web');
    assert.equal((await fetchOnce({ port, path: '/' })).status, 500);
    // The section is there as soon as a filter waits for its settings.
    assert.deepEqual(
      (JSON.parse((await sluice.admin('/config_dump')).body) as { configs: object[] }).configs[2],
      { '@type': 'type.googleapis.com/envoy.admin.v3.EcdsConfigDump' },
    );
    assert.equal((await sluice.admin('/config_dump?resource=ecds_filters')).body, '{}\n');
  });
});
