/** Rules of access that name clients by their certificates. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { GREETING, bootstrap } from '../../support/parts/bootstrap.ts';
import { makeAuthority } from '../../support/parts/certificates.ts';
import { networkFilter } from '../../support/parts/tcp-listener.ts';
import {
  askSecurely,
  certificateFiles,
  secureListener,
  tlsSocket,
} from '../../support/parts/tls.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.rbac.principals.mtls_authenticated.v3.Config';

describe('a principal of mutual TLS', () => {
  it('lets clients with a verified certificate pass, and with a name where one is asked', async () => {
    using scratch = makeScratch();
    const authority = makeAuthority(scratch.path);
    const stranger = makeAuthority(scratch.path, 'other').issue('stranger', 'URI:spiffe://a/b');
    const [named, other] = [
      authority.issue('named', 'DNS:c.test,URI:spiffe://a/b'),
      authority.issue('other-client', 'DNS:c.test'),
    ];
    const socket = tlsSocket('Downstream', {
      common_tls_context: {
        tls_certificates: [certificateFiles(authority.issue('server', 'DNS:s.test'))],
        validation_context: {
          trusted_ca: { filename: authority.certPath },
          trust_chain_verification: 'ACCEPT_UNTRUSTED',
        },
      },
    });
    const guarded = (name: string, principal: object) => {
      const listener = secureListener(GREETING, socket) as {
        readonly filter_chains: readonly { readonly filters: readonly object[] }[];
      };
      const custom = { name: 'mtls', typed_config: { '@type': TYPE, ...principal } };
      const rules = { policies: { p: { permissions: [{ any: true }], principals: [{ custom }] } } };
      const guard = networkFilter('rbac', 'rbac.v3.RBAC', { stat_prefix: name, rules });
      const [chain] = listener.filter_chains;
      return {
        ...listener,
        name,
        filter_chains: [{ ...chain, filters: [guard, ...(chain?.filters ?? [])] }],
      };
    };
    const san = { san_type: 'URI', matcher: { prefix: 'spiffe://a/' } };
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [
          guarded('any', { any_validated_client_certificate: true }),
          guarded('uri', { any_validated_client_certificate: true, san_matcher: san }),
        ],
      }),
    });
    const answers = async (listener: string) => {
      const port = await sluice.listenerPort(listener);
      const clients = [named, other, stranger].map(({ cert, key }) => ({ cert, key }));
      const texts = await Promise.all(
        [...clients, {}].map(async (client) => (await askSecurely(port, client)).text),
      );
      return texts.map((text) => text.includes(' 200 '));
    };
    assert.deepEqual(await answers('any'), [true, true, false, false]);
    assert.deepEqual(await answers('uri'), [true, false, false, false]);
    assert.equal(await sluice.stat('uri.rbac.denied'), 3);
  });
});
