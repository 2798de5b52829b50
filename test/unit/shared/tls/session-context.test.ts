/** When tickets stop to be good by time alone. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, it } from 'node:test';
import { NO_VALIDATION, PeerCheck } from '../../../../shared/tls/peer-check.ts';
import { SessionContext } from '../../../../shared/tls/session-context.ts';
import {
  altNames,
  buildCertificate,
  buildRevocationList,
  commonName,
  isAuthority,
  makeKeys,
  SAN,
  utcTime,
} from '../../../support/parts/certificate-builder.ts';

const NOW = Date.UTC(2030, 5, 1, 12);
const HOUR = 3600 * 1000;
const DAY = 24 * HOUR;
const root = makeKeys();
const issuer = commonName('root');
const trustedCa = buildCertificate({
  subject: issuer,
  issuer,
  keys: root,
  signer: root,
  extensions: [isAuthority()],
  from: utcTime(NOW - DAY),
  to: utcTime(NOW + 1000),
});
const validation = { ...NO_VALIDATION, trustedCa };
const rules = {
  parameters: {
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.3',
    ciphers: 'all',
    curves: 'X25519',
  },
  certificates: [],
  validation,
  requiresPeer: false,
  requiresServerName: false,
  serverNames: [],
} as const;

describe('where a session may be resumed', () => {
  it('ends with an authority, a revocation list, and after a day', () => {
    const context = new SessionContext(rules);
    const before = context.at(NOW);
    assert.equal(context.at(NOW + 1000), before);
    const after = context.at(NOW + 1001);
    assert.notEqual(after, before);
    assert.equal(context.at(NOW), before, 'the clock may go back');
    assert.notEqual(context.at(NOW + 1001 + DAY), after);
    const crl = buildRevocationList(issuer, root, [], NOW + 1000);
    const listed = new SessionContext({ ...rules, validation: { ...validation, crl } });
    assert.notEqual(listed.at(NOW), before);
    assert.notEqual(listed.at(NOW), listed.at(NOW + 1000));
  });

  it('is the same for ever where nobody is judged', () => {
    const context = new SessionContext({ ...rules, validation: undefined });
    assert.equal(context.at(NOW), context.at(NOW + 400 * DAY));
    assert.equal(context.isOver(NOW + 500 * DAY), false);
  });

  it('does not depend on where the rules came from, but on each of them', () => {
    const at = (changed: object): string => new SessionContext({ ...rules, ...changed }).at(NOW);
    const same = at({ validation: { ...validation, caPath: '/etc/ca', secretName: 'trust' } });
    assert.equal(same, at({}));
    const others = [
      { requiresPeer: true },
      { requiresServerName: true },
      { serverNames: ['a'] },
      { parameters: { ...rules.parameters, ciphers: 'other' } },
      ...(
        [
          { acceptUntrusted: true },
          { allowExpired: true },
          { maxVerifyDepth: 1 },
          { crl: 'another' },
          { certificateHashes: ['a'] },
          { spkiHashes: ['a'] },
          { trustedCa: `${trustedCa}${trustedCa}` },
          { sanMatchers: [{ type: 'DNS', matcher: { kind: 'exact', value: 'a' } }] },
        ] as const
      ).map((each) => ({ validation: { ...validation, ...each } })),
    ];
    const texts = others.map(at);
    assert.equal(new Set([same, ...texts]).size, others.length + 1);
  });
});

describe('a certificate of a resumed session', () => {
  it('is judged by its own dates, names and pins at that moment', () => {
    const peer = new X509Certificate(
      buildCertificate({
        subject: commonName('client'),
        issuer,
        keys: makeKeys(),
        signer: root,
        extensions: [altNames([SAN.dns, Buffer.from('c.test')])],
        from: utcTime(NOW),
        to: utcTime(NOW + HOUR),
      }),
    );
    const judge = (nowMs: number, more = {}, code?: string): string | undefined => {
      const error = code === undefined ? null : Object.assign(new Error('words'), { code });
      const check = new PeerCheck({ ...validation, ...more });
      return check.judgeResumed(peer, error, nowMs)?.detail.replace(/^.*: /, '');
    };
    assert.equal(judge(NOW), undefined);
    assert.equal(judge(NOW + HOUR + 999), undefined);
    assert.equal(judge(NOW + HOUR + 1000), 'certificate has expired');
    assert.equal(judge(NOW - 1), 'certificate is not yet valid');
    assert.equal(judge(NOW + DAY, { allowExpired: true }, 'CERT_HAS_EXPIRED'), undefined);
    assert.equal(judge(NOW, { allowExpired: true }, 'CERT_REVOKED'), 'certificate revoked');
    assert.equal(judge(NOW, {}, 'CERT_HAS_EXPIRED'), 'certificate has expired');
    const named = { type: 'DNS', matcher: { kind: 'exact', value: 'd.test' } } as const;
    assert.equal(
      judge(NOW, { sanMatchers: [named] }),
      'SAN matcher, certificate SANs are [c.test]',
    );
    assert.equal(judge(NOW, { certificateHashes: ['ab'] }), 'cert hash and spki');
    assert.equal(judge(NOW + DAY, { trustedCa: undefined }), undefined);
  });
});
