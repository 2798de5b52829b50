/** The words are those of Envoy's log for the same certificates. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { TlsValidation } from '../../../../shared/resources/tls.ts';
import { type ExpectedNames, NO_VALIDATION, PeerCheck } from '../../../../shared/tls/peer-check.ts';
import { makeAuthority } from '../../../support/parts/certificates.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const authority = makeAuthority(folder);
const peer = new X509Certificate(
  authority.issue('peer', 'DNS:a.test,DNS:*.w.test,URI:spiffe://x,IP:1.2.3.4').cert,
);
const stranger = new X509Certificate(makeAuthority(folder, 'other').issue('s', 'DNS:a.test').cert);

const CHAIN = 'verify cert failed: X509_verify_cert: certificate verification error at depth 0: ';
const REVOCATION = 'certificate revocation check against provided CRLs failed: ';
const NO_ISSUER = 'unable to get local issuer certificate';

function judge(
  validation: Partial<TlsValidation>,
  { of = peer, code, expected }: { of?: X509Certificate; code?: string; expected?: ExpectedNames },
): string | undefined {
  const error = code === undefined ? null : Object.assign(new Error('other words'), { code });
  const check = new PeerCheck({ ...NO_VALIDATION, ...validation });
  return check.judge(of, error, expected)?.detail;
}

describe('the judgement of a certificate', () => {
  const trusting = { trustedCa: authority.cert };

  it('lets pass what OpenSSL accepts, and says what it complains of', () => {
    assert.equal(judge(trusting, {}), undefined);
    const said: readonly (readonly [string, string])[] = [
      ['CERT_HAS_EXPIRED', 'certificate has expired'],
      ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', NO_ISSUER],
      ['CERT_REVOKED', `${REVOCATION}certificate revoked`],
      ['SOMETHING_ELSE', 'other words'],
    ];
    for (const [code, words] of said) assert.equal(judge(trusting, { code }), CHAIN + words);
    assert.equal(judge({}, { code: 'CERT_HAS_EXPIRED' }), undefined);
  });

  it('finds what an expired certificate or a missing revocation list hides', () => {
    const expired = { ...trusting, allowExpired: true };
    assert.equal(judge(expired, { code: 'CERT_HAS_EXPIRED' }), undefined);
    assert.equal(judge(expired, { code: 'CERT_HAS_EXPIRED', of: stranger }), CHAIN + NO_ISSUER);
    const code = 'UNABLE_TO_GET_CRL';
    assert.equal(judge(trusting, { code }), `${CHAIN}${REVOCATION}unable to get certificate CRL`);
    assert.equal(judge(trusting, { code, of: stranger }), CHAIN + NO_ISSUER);
  });

  it('counts how far the authority stands', () => {
    assert.equal(judge({ ...trusting, maxVerifyDepth: 0 }, {}), undefined);
    const refused = judge({ ...trusting, maxVerifyDepth: 3 }, { of: stranger });
    assert.equal(refused, CHAIN + NO_ISSUER);
  });

  it('looks for the name of a request besides the configured ones, for the sent one instead', () => {
    const matcher = { kind: 'exact', value: 'b.test', ignoreCase: false } as const;
    const naming = { ...trusting, sanMatchers: [{ type: 'DNS', matcher } as const] };
    const names = '[a.test, *.w.test, spiffe://x, 1.2.3.4]';
    const matcherRefusal = `verify cert failed: SAN matcher, certificate SANs are ${names}`;
    assert.equal(judge(naming, {}), matcherRefusal);
    assert.equal(judge(naming, { expected: { instead: 'x.w.test' } }), undefined);
    assert.equal(judge(naming, { expected: { besides: 'a.test' } }), matcherRefusal);
    for (const besides of ['A.test', 'x.w.test', 'spiffe://x', '1.2.3.4']) {
      assert.equal(judge(trusting, { expected: { besides } }), undefined);
    }
    assert.equal(
      judge(trusting, { expected: { besides: 'w.test' } }),
      `verify cert failed: verify SAN list, expected SANs: [w.test], certificate SANs: ${names}`,
    );
  });

  it('needs a certificate where names or pins are asked for, not for an authority alone', () => {
    const needs = (validation: Partial<TlsValidation>) =>
      new PeerCheck({ ...NO_VALIDATION, ...validation }).needsPeer;
    assert.deepEqual([trusting, { certificateHashes: ['a'] }, { spkiHashes: ['a'] }].map(needs), [
      false,
      true,
      true,
    ]);
  });
});
