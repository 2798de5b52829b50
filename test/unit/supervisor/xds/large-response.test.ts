import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeResponse } from '../../../../supervisor/xds/subscriptions/decode-response.ts';
import { RESOURCE_TYPES } from '../../../../supervisor/resolved/resource-kinds.ts';
import { DECODING } from '../../../support/peers/discovery-parts.ts';

const TLS = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3';

/**
 * More than what the supervisor decodes by itself, with one resource in it that has a broken part.
 */
function answer(count: number, bad: number): Buffer {
  const resources = Array.from({ length: count }, (_, index) => ({
    '@type': 'type.googleapis.com/envoy.config.cluster.v3.Cluster',
    name: `cluster-${index}`,
    alt_stat_name: 'a text that makes the answer larger than what is decoded at once'.repeat(2),
    ...(index === bad
      ? {
          transport_socket: {
            name: 'tls',
            typed_config: { '@type': `${TLS}.UpstreamTlsContext`, sni: 'x'.repeat(300) },
          },
        }
      : {}),
  }));
  return Buffer.from(JSON.stringify({ version_info: '1', resources }));
}

describe('an answer that is decoded outside the supervisor', () => {
  it('is as one that is decoded inside, and names the resource with a broken part', async () => {
    for (const count of [3, 1000]) {
      const content = answer(count, 2);
      assert.equal(content.length > 64 * 1024, count === 1000);
      const source = { name: 'test', format: 'json', content } as const;
      const update = await decodeResponse(source, RESOURCE_TYPES.cluster, DECODING);
      assert.deepEqual(
        update.resources.map(({ name }) => name),
        Array.from({ length: count }, (_, index) => `cluster-${index}`),
      );
      const faults = update.resources.flatMap(({ fault }, index) =>
        fault === undefined ? [] : [[index, fault]],
      );
      assert.deepEqual(faults, [
        [
          2,
          `goo.gle/debugstr  \nsni: "${'x'.repeat(300)}"\n: Proto constraint validation failed (UpstreamTlsContextValidationError.Sni: value length must be at most 255 bytes)`,
        ],
      ]);
    }
  });
});
