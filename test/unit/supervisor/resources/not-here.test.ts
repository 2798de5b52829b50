/** What Envoy's build has and this system has not, where something else can serve in its place. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, staticCluster } from '../../../support/parts/bootstrap.ts';
import { resolveConfig } from './resolve-text.ts';

const TYPE = 'type.googleapis.com/envoy.extensions';
const APPLE = {
  typed_dns_resolver_config: {
    name: 'envoy.network.dns_resolver.apple',
    typed_config: {
      '@type': `${TYPE}.network.dns_resolver.apple.v3.AppleDnsResolverConfig`,
    },
  },
};

function tlsWith(ecdh_curves: readonly string[]): object {
  const typed_config = {
    '@type': `${TYPE}.transport_sockets.tls.v3.UpstreamTlsContext`,
    common_tls_context: { tls_params: { ecdh_curves } },
  };
  const transport_socket = { name: 'tls', typed_config };
  return bootstrap({ clusters: [staticCluster('up', [1], { transport_socket })] });
}

async function verdictsOf(config: object): Promise<readonly (readonly unknown[])[]> {
  const outcome = await resolveConfig(config);
  const { problems } = outcome.kind === 'invalid' ? outcome : outcome.resolution;
  return problems.map(({ severity, rule }) => [severity, rule]);
}

describe('what this system does not have', () => {
  it('is a resolver of Apple: the one of the system is asked', async () => {
    assert.deepEqual(await verdictsOf(bootstrap({}, APPLE)), [['warning', 'no_effect']]);
    const clusters = [staticCluster('up', [1], { type: 'STRICT_DNS', ...APPLE })];
    assert.deepEqual(await verdictsOf(bootstrap({ clusters })), [['error', 'unsupported']]);
  });

  it('are new key exchanges: the others of the list are offered', async () => {
    assert.deepEqual(await verdictsOf(tlsWith(['X25519Kyber768Draft00', 'X25519'])), [
      ['warning', 'no_effect'],
    ]);
    assert.deepEqual(await verdictsOf(tlsWith(['X25519Kyber768Draft00'])), [['error', 'conflict']]);
    assert.deepEqual(await verdictsOf(tlsWith(['no-curve', 'X25519'])), [['error', 'conflict']]);
  });
});
