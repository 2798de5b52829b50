import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { startControlPlane } from '../../support/peers/control-plane.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { ADMIN, startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';
import { ROUTER, SCRIPT_TYPE } from '../../support/scripts/script-server.ts';
import { waitUntil } from '../../support/wait.ts';

const EXTENSION = 'envoy.config.core.v3.TypedExtensionConfig';

function script(file: string): object {
  return {
    '@type': `type.googleapis.com/${EXTENSION}`,
    name: 'mine',
    typed_config: { '@type': SCRIPT_TYPE, file },
  };
}

const moduleOf = (value: string): string =>
  `import { defineFilter } from 'sluice/filter';
export default defineFilter({ create: () => ({ onResponseHeaders: (headers) => headers.set('x-from', '${value}') }) });`;

describe('scripts of a control plane', () => {
  it('change for the next request, and are refused outside of the folders that are named', async () => {
    const scratch = makeScratch();
    const allowed = makeScratch();
    using _ = allowed;
    writeFileSync(allowed.file('one.ts'), moduleOf('one'));
    writeFileSync(allowed.file('two.ts'), moduleOf('two'));
    writeFileSync(allowed.file('broken.ts'), 'export default {');
    writeFileSync(scratch.file('outside.ts'), moduleOf('outside'));
    symlinkSync(scratch.file('outside.ts'), allowed.file('link.ts'));
    symlinkSync(scratch.path, allowed.file('folder'));
    symlinkSync(allowed.file('one.ts'), allowed.file('other-name.ts'));
    writeFileSync(
      allowed.file('imports.ts'),
      `import './folder/outside.ts';\n${moduleOf('imports')}`,
    );
    await using control = await startControlPlane();
    control.set(EXTENSION, '1', [script(allowed.file('one.ts'))]);
    const filters = [
      {
        name: 'mine',
        config_discovery: {
          config_source: { ads: {}, resource_api_version: 'V3', initial_fetch_timeout: '10s' },
          type_urls: [SCRIPT_TYPE.replace('type.googleapis.com/', '')],
        },
      },
      ROUTER,
    ];
    const route = { match: { prefix: '/' }, direct_response: { status: 200 } };
    await using sluice = await startSluice({
      scratch,
      args: ['--script-folders', `/no/such,${allowed.path}`],
      bootstrap: {
        node: { id: 'me', cluster: 'mine' },
        admin: ADMIN,
        static_resources: {
          clusters: [staticCluster('control', [control.port])],
          listeners: [httpListener([route], { hcm: { http_filters: filters } })],
        },
        dynamic_resources: {
          ads_config: {
            api_type: 'GRPC',
            transport_api_version: 'V3',
            grpc_services: [{ envoy_grpc: { cluster_name: 'control' } }],
          },
        },
      },
    });
    const port = await sluice.listenerPort('web');
    const ask = async (): Promise<unknown> => (await fetchOnce({ port })).headers['x-from'];
    const refusal = async (text: string): Promise<unknown> =>
      await waitUntil('the refusal', () =>
        control.requests.find(({ error_detail: detail }) => detail?.message?.includes(text)),
      );
    assert.equal(await ask(), 'one');
    control.set(EXTENSION, '2', [script(allowed.file('two.ts'))]);
    await waitUntil('the second module', async () => (await ask()) === 'two');
    control.set(EXTENSION, '3', [script(scratch.file('outside.ts'))]);
    await refusal('outside.ts is not below a folder of --script-folders');
    control.set(EXTENSION, '4', [script(allowed.file('broken.ts'))]);
    await refusal(`cannot load the module ${allowed.file('broken.ts')}`);
    control.set(EXTENSION, '5', [script(allowed.file('link.ts'))]);
    await refusal('link.ts is a link to a file that is not below a folder of --script-folders');
    control.set(EXTENSION, '6', [script(allowed.file('imports.ts'))]);
    await refusal('folder/outside.ts is a link to a file that is not below');
    assert.equal(await ask(), 'two');
    control.set(EXTENSION, '7', [script(allowed.file('other-name.ts'))]);
    await waitUntil('a link within the folder', async () => (await ask()) === 'one');
  });
});
