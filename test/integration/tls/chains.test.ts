/** Which chains of clients pass: each row is what Envoy 1.40 did with the same certificates. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { bootstrap, GREETING } from '../../support/parts/bootstrap.ts';
import {
  buildRevocationList,
  commonName,
  makeKeys,
} from '../../support/parts/certificate-builder.ts';
import { certificateFiles, secureListener, tlsSocket } from '../../support/parts/tls.ts';
import { makeOddChains } from '../../support/parts/odd-chains.ts';
import { makeScratch } from '../../support/scratch.ts';
import { makeParties } from '../../support/peers/session-parties.ts';
import { visit } from '../../support/peers/session-tickets.ts';
import { startSluice } from '../../support/programs/sluice.ts';

const NONE = '';
/**
 * The verdicts of plain, crl, old (expired ones are allowed), old_crl, shallow (depth 1), old_deep
 * (depth 2), and of lists that stand among the authorities (bundled) or behind another one
 * (second).
 */
const PASSES: Readonly<Record<string, string>> = {
  good: 'plain crl old old_crl shallow old_deep bundled second',
  expired: 'old old_crl old_deep',
  early: 'old old_crl old_deep',
  revoked: 'plain old shallow old_deep',
  'revoked, expired': 'old old_deep',
  'by a leaf': NONE,
  'by a leaf, expired': NONE,
  'by a plain leaf, expired': NONE,
  'for servers': NONE,
  'for servers, expired': NONE,
  'for clients, expired': 'old old_crl old_deep',
  'for anything, expired': NONE,
  'critical, expired': NONE,
  'names twice, expired': NONE,
  'below one, expired': 'old old_deep',
  'too deep': NONE,
  'too deep, expired': NONE,
  'by an old one': 'old old_deep',
};

describe('chains of clients with one fault each', () => {
  it('pass where Envoy lets them, whatever a wrong date hides', async () => {
    using scratch = makeScratch();
    const { root, revoked, clients } = makeOddChains();
    const { server } = makeParties(scratch);
    const [caPath, crlPath] = [scratch.file('root.pem'), scratch.file('root.crl')];
    writeFileSync(caPath, root.cert);
    const list = buildRevocationList(root.name, root.keys, [revoked]);
    const others = makeKeys();
    const otherList = buildRevocationList(commonName('other'), others, []);
    const [bundlePath, listsPath] = [scratch.file('bundle.pem'), scratch.file('lists.crl')];
    writeFileSync(crlPath, list);
    writeFileSync(bundlePath, root.cert + list);
    writeFileSync(listsPath, otherList + list);
    const trusted_ca = { filename: caPath };
    const crl = { filename: crlPath };
    const old = { trusted_ca, allow_expired_certificate: true };
    const validations = {
      plain: { trusted_ca },
      crl: { trusted_ca, crl },
      old,
      old_crl: { ...old, crl },
      shallow: { trusted_ca, max_verify_depth: 1 },
      old_deep: { ...old, max_verify_depth: 2 },
      bundled: { trusted_ca: { filename: bundlePath } },
      second: { trusted_ca, crl: { filename: listsPath } },
    };
    const listeners = Object.entries(validations).map(([name, validation_context]) => {
      const tls_certificates = [certificateFiles(server)];
      const socket = tlsSocket('Downstream', {
        common_tls_context: { tls_certificates, validation_context },
        require_client_certificate: true,
      });
      return { ...secureListener(GREETING, socket), name };
    });
    await using sluice = await startSluice({ bootstrap: bootstrap({ listeners }), concurrency: 1 });
    assert.deepEqual(Object.keys(clients), Object.keys(PASSES));
    for (const [client, { cert, key }] of Object.entries(clients)) {
      const passed: string[] = [];
      for (const name of Object.keys(validations)) {
        const options = {
          ...(cert === undefined ? {} : { cert }),
          ...(key === undefined ? {} : { key }),
        };
        const { passes } = await visit(await sluice.listenerPort(name), options);
        if (passes) passed.push(name);
      }
      assert.equal(passed.join(' '), PASSES[client], client);
    }
  });
});
