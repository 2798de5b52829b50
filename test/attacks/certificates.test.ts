/** Certificates of every shape: nothing throws, and nothing of them gets out that ends a line. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readCertificate } from '../../shared/tls/certificate-parts.ts';
import { NO_VALIDATION, PeerCheck } from '../../shared/tls/peer-check.ts';
import { X509Facts } from '../../workers/tls/certificate-info.ts';
import { attackParameters } from '../support/attack.ts';
import {
  altNames,
  buildCertificate,
  der,
  distinguishedName,
  extension,
  makeKeys,
  type NamePart,
  SAN,
  TEXT,
} from '../support/parts/certificate-builder.ts';

const keys = makeKeys();
const bytes = (maxLength: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ maxLength }).map((each) => Buffer.from(each));
const type = fc.constantFrom('2.5.4.3', '2.5.4.10', '2.5.4.6', '1.2.3.4', '2.5.4.97');
const text = fc.string({ unit: 'binary', maxLength: 12 });
const part: fc.Arbitrary<NamePart & { readonly text: string }> = fc
  .record({ type, text, joined: fc.boolean(), tag: fc.constantFrom(TEXT.utf8, TEXT.t61, TEXT.bmp) })
  .map((each) => ({ ...each, value: encode(each.tag, each.text) }));
const altName = fc.tuple(fc.constantFrom(SAN.email, SAN.dns, SAN.uri, SAN.ip), bytes(20));
const date = fc.tuple(
  fc.constantFrom(23, 24),
  fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.stringMatching(/^(\d\d)?\d\d[01]\d[0-3]\d[0-2]\d[0-6]\d([0-6]\d)?(Z|[+-]\d{4})$/),
  ),
);
const drafts = fc.record({
  subject: fc.array(part, { maxLength: 5 }),
  issuer: fc.array(part, { maxLength: 3 }),
  names: fc.array(altName, { maxLength: 5 }),
  others: fc.array(fc.tuple(fc.constantFrom('2.5.29.17', '1.2.3', '2.5.29.19'), bytes(24)), {
    maxLength: 2,
  }),
  serial: fc.uint8Array({ minLength: 1, maxLength: 40 }).map((each) => Buffer.from(each)),
  from: date,
  to: date,
});

function encode(tag: number, value: string): Buffer {
  if (tag === TEXT.utf8) return Buffer.from(value);
  return tag === TEXT.t61 ? Buffer.from(value, 'latin1') : Buffer.from(value, 'utf16le').swap16();
}

/** Undoes what RFC 2253 escapes, in bytes. */
function unescape(value: string): Buffer {
  const plain = value.replace(/\\([\dA-F]{2}|.)/g, (_, escaped: string) =>
    escaped.length === 2 ? String.fromCharCode(Number.parseInt(escaped, 16)) : escaped,
  );
  return Buffer.from(plain, 'latin1');
}

describe('certificates of every shape', () => {
  it('are read without an error, and print in one line of ASCII', () => {
    let read = 0;
    fc.assert(
      fc.property(drafts, (draft) => {
        const pem = buildCertificate({
          subject: distinguishedName(draft.subject),
          issuer: distinguishedName(draft.issuer),
          serial: draft.serial,
          from: der(draft.from[0], Buffer.from(draft.from[1])),
          to: der(draft.to[0], Buffer.from(draft.to[1])),
          extensions: [
            ...(draft.names.length === 0 ? [] : [altNames(...draft.names)]),
            ...draft.others.map(([name, value]) => extension(name, value)),
          ],
          keys,
          signer: keys,
        });
        let certificate: X509Certificate;
        try {
          certificate = new X509Certificate(pem);
        } catch {
          return; // OpenSSL refuses it, and with it the handshake
        }
        read += 1;
        const facts = new X509Facts(certificate);
        for (const name of [facts.subject, facts.issuer]) assert.match(name, /^[ -~]*$/);
        assert.match(facts.serial, /^-?(0|([\da-f]{2})+)$/);
        assert.ok(facts.validFromMs >= -1e15 || Number.isNaN(facts.validFromMs));
        void [facts.uriSans, facts.ipSans, facts.emailSans, facts.issuedBy, facts.pem];
        judge(certificate);
        const isAlone = !draft.others.some(([name]) => name === '2.5.29.17');
        const dns = draft.names.filter(([tag]) => tag === SAN.dns);
        if (isAlone)
          assert.deepEqual(
            facts.dnsSans,
            dns.map(([, value]) => value.toString('latin1')),
          );
        const [only] = draft.subject;
        if (draft.subject.length !== 1 || only?.type !== '2.5.4.3') return;
        const meant = only.tag === TEXT.t61 ? only.value.toString('latin1') : only.text;
        assert.deepEqual(unescape(facts.subject.slice(3)), Buffer.from(meant));
      }),
      attackParameters(200, 60_000),
    );
    assert.ok(read > 50, `${read} were read`);
  });

  it('are not read past their end, whatever is cut or changed', () => {
    const raw = new X509Certificate(
      buildCertificate({
        subject: distinguishedName([{ type: '2.5.4.3', tag: TEXT.utf8, value: Buffer.from('c') }]),
        issuer: distinguishedName([]),
        keys,
        signer: keys,
        extensions: [altNames([SAN.dns, Buffer.from('a.test')])],
      }),
    ).raw;
    const change = fc.tuple(fc.nat(raw.length - 1), fc.nat(255));
    fc.assert(
      fc.property(fc.nat(raw.length), fc.array(change, { maxLength: 4 }), (length, changes) => {
        const changed = Buffer.from(raw);
        for (const [at, byte] of changes) changed[at] = byte;
        const parts = readCertificate(changed.subarray(0, length));
        if (parts === undefined) return;
        for (const { end } of [parts.serial, parts.subject, parts.issuer, parts.publicKey]) {
          assert.ok(end <= length);
        }
      }),
      attackParameters(1000, 500_000),
    );
  });
});

function judge(certificate: X509Certificate): void {
  const matcher = { kind: 'prefix', value: 'a', ignoreCase: false } as const;
  const check = new PeerCheck({
    ...NO_VALIDATION,
    sanMatchers: [{ type: 'DNS', matcher }],
    spkiHashes: ['a'],
  });
  check.judge(certificate, null);
  check.judgeResumed(certificate, null, 0);
}
