import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { staticCluster } from '../../support/parts/bootstrap.ts';
import { startControlPlane } from '../../support/peers/control-plane.ts';
import { fileSource, moveIntoPlace } from '../../support/peers/discovery-files.ts';
import { makeScratch } from '../../support/scratch.ts';
import { ADMIN, startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const RUNTIME = 'envoy.service.runtime.v3.Runtime';

function layer(name: string, values: object): object {
  return { '@type': `type.googleapis.com/${RUNTIME}`, name, layer: values };
}

async function valueOf(sluice: Sluice, key: string): Promise<string | undefined> {
  const { body } = await sluice.admin('/runtime?format=json');
  const { entries } = JSON.parse(body) as { entries: Record<string, { final_value: string }> };
  return entries[key]?.final_value;
}

describe('runtime layers from elsewhere', () => {
  it('come over the aggregated stream and from files, change, and are refused by the reason', async () => {
    using scratch = makeScratch();
    await using control = await startControlPlane();
    moveIntoPlace(scratch, 'layer.json', {
      version: 'f1',
      resources: [layer('file', { 'from.file': 1, both: 'file' })],
    });
    control.set(RUNTIME, 'v1', [layer('ads', { nested: { key: 5 }, both: 'ads' })]);
    await using sluice = await startSluice({
      bootstrap: {
        node: { id: 'me', cluster: 'mine' },
        admin: ADMIN,
        static_resources: { clusters: [staticCluster('control', [control.port])] },
        layered_runtime: {
          layers: [
            {
              name: 'one',
              rtds_layer: { name: 'file', rtds_config: fileSource(scratch.file('layer.json')) },
            },
            {
              name: 'two',
              rtds_layer: { name: 'ads', rtds_config: { ads: {}, resource_api_version: 'V3' } },
            },
          ],
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
    assert.equal(await valueOf(sluice, 'nested.key'), '5');
    assert.equal(await valueOf(sluice, 'from.file'), '1');
    assert.equal(await valueOf(sluice, 'both'), 'ads');

    control.set(RUNTIME, 'v2', [layer('ads', { nested: { key: 6 } })]);
    await waitUntil('the change', async () => (await valueOf(sluice, 'both')) === 'file');
    assert.equal(await valueOf(sluice, 'nested.key'), '6');

    control.set(RUNTIME, 'v3', [layer('ads', { list: [1] })]);
    const refusal = await waitUntil('the refusal', () =>
      control.requests.find(({ error_detail: detail }) => detail !== undefined),
    );
    assert.match(refusal.error_detail?.message ?? '', /list/);
    assert.equal(await valueOf(sluice, 'nested.key'), '6');

    moveIntoPlace(scratch, 'layer.json', { version: 'f2', resources: [layer('file', {})] });
    await waitUntil('the empty file', async () => (await valueOf(sluice, 'both')) === undefined);
    assert.deepEqual(await sluice.stop(), { code: 0, signal: null });
  });
});
