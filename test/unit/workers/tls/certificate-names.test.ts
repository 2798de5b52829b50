/** What Envoy 1.40 printed of the same certificates. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, it } from 'node:test';
import { isReadable } from '../../../../shared/tls/certificate-parts.ts';
import { X509Facts } from '../../../../workers/tls/certificate-info.ts';
import {
  altNames,
  buildCertificate,
  type CertificateDraft,
  commonName,
  der,
  distinguishedName,
  extension,
  makeKeys,
  SAN,
  sequence,
  TEXT,
} from '../../../support/parts/certificate-builder.ts';

const keys = makeKeys();
const CN = '2.5.4.3';
const NO_NAME = sequence();
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
const wide = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();
const some = (tag: number, value: Buffer, type = CN): Buffer =>
  distinguishedName([{ type, tag, value }]);

function certificate(draft: Partial<CertificateDraft>): X509Certificate {
  const base = { subject: commonName('c'), issuer: commonName('i'), keys, signer: keys };
  return new X509Certificate(buildCertificate({ ...base, ...draft }));
}

const facts = (draft: Partial<CertificateDraft>): X509Facts => new X509Facts(certificate(draft));

describe('the names of a certificate', () => {
  const names: readonly (readonly [string, Buffer, string])[] = [
    ['nothing', NO_NAME, ''],
    ['an empty name', some(TEXT.utf8, latin1('')), 'CN='],
    ['wide letters', some(TEXT.utf8, Buffer.from('\u010d\u010a')), 'CN=\\C4\\8D\\C4\\8A'],
    ['beyond 16 bits', some(TEXT.utf8, Buffer.from('a😀b')), 'CN=a\\F0\\9F\\98\\80b'],
    ['a line feed', some(TEXT.utf8, latin1('a\r\nx: y')), 'CN=a\\0D\\0Ax: y'],
    ['NUL', some(TEXT.utf8, latin1('a\0b')), 'CN=a\\00b'],
    [
      'separators',
      some(TEXT.utf8, latin1('#a,b+c"d\\e<f>g;h=i ')),
      'CN=\\#a\\,b\\+c\\"d\\\\e\\<f\\>g\\;h=i\\ ',
    ],
    ['a space', some(TEXT.utf8, latin1(' ')), 'CN=\\ '],
    ['two spaces', some(TEXT.utf8, latin1('  ')), 'CN=\\ \\ '],
    ['a backslash and a space', some(TEXT.utf8, latin1('\\ ')), 'CN=\\\\\\ '],
    ['hashes', some(TEXT.utf8, latin1('##')), 'CN=\\##'],
    ['controls', some(TEXT.utf8, latin1('a/b=c\x7f\x01\x1f~')), 'CN=a/b=c\\7F\\01\\1F~'],
    ['printable that is not', some(TEXT.printable, latin1('a\xe9b')), 'CN=a\\C3\\A9b'],
    ['T61', some(TEXT.t61, latin1('a\xe9b')), 'CN=a\\C3\\A9b'],
    ['IA5', some(TEXT.ia5, latin1('a\xe9b')), 'CN=a\\C3\\A9b'],
    ['BMP', some(TEXT.bmp, wide('a\u010d\u010ab')), 'CN=a\\C4\\8D\\C4\\8Ab'],
    [
      'universal',
      some(TEXT.universal, Buffer.from('000000610000010d0001f600', 'hex')),
      'CN=a\\C4\\8D\\F0\\9F\\98\\80',
    ],
    ['a sequence', some(0x30, Buffer.of(2, 1, 5)), 'CN=#3003020105'],
    ['bits', some(3, latin1('\0a')), 'CN=#03020061'],
    [
      'no attribute that is known',
      some(TEXT.utf8, latin1('x\r\n'), '1.2.3.4.5'),
      '1.2.3.4.5=#0C03780D0A',
    ],
    ['what OpenSSL knows alone', some(TEXT.utf8, latin1('v'), '2.5.4.97'), '2.5.4.97=#0C0176'],
    [
      'several together',
      distinguishedName([
        { type: '2.5.4.6', tag: TEXT.printable, value: latin1('US') },
        { type: '2.5.4.10', tag: TEXT.utf8, value: latin1('O') },
        { type: '2.5.4.11', tag: TEXT.utf8, value: latin1('U'), joined: true },
        { type: CN, tag: TEXT.utf8, value: latin1('cn'), joined: true },
        { type: '0.9.2342.19200300.100.1.1', tag: TEXT.utf8, value: latin1('uid') },
      ]),
      'UID=uid,CN=cn+OU=U+O=O,C=US',
    ],
  ];
  for (const [what, name, shown] of names) {
    it(`hold ${what}: ${shown}`, () => {
      assert.equal(facts({ subject: name }).subject, shown);
      assert.equal(facts({ issuer: name }).issuer, shown);
    });
  }

  it('are those of its extension, byte by byte, and none where that is malformed', () => {
    const all = (...extensions: readonly Buffer[]): readonly (readonly string[])[] => {
      const { uriSans, dnsSans, ipSans, emailSans } = facts({ extensions });
      return [uriSans, dnsSans, ipSans, emailSans];
    };
    const odd = 'a\r\nb\0c, DNS:d"e\\f;\xff';
    const named = altNames([SAN.uri, latin1(odd)], [SAN.dns, latin1(odd)], [SAN.email, latin1('')]);
    assert.deepEqual(all(named), [[odd], [odd], [], ['']]);
    const addresses = [
      '01020304',
      '20010db8000000000000000000000001',
      '00000000000000000000ffff01020304',
      '010203',
      '00'.repeat(16),
      '0001000200030004000500060007000f',
    ].map((hex) => [SAN.ip, Buffer.from(hex, 'hex')] as const);
    const shown = ['1.2.3.4', '2001:db8::1', '::ffff:1.2.3.4', '', '::', '1:2:3:4:5:6:7:f'];
    assert.deepEqual(all(altNames(...addresses)), [[], [], shown, []]);
    const nothing = [[], [], [], []];
    const dns = der(SAN.dns, latin1('a.test'));
    const malformed: readonly (readonly Buffer[])[] = [
      [],
      [extension('2.5.29.17', sequence())],
      [extension('2.5.29.17', latin1('\x30\x05\x82\x09ab'))],
      [extension('2.5.29.17', Buffer.concat([sequence(dns), latin1('xx')]))],
      [extension('2.5.29.17', sequence(dns, der(0x89, latin1('x'))))],
      [altNames([SAN.dns, latin1('a')]), altNames([SAN.dns, latin1('b')])],
    ];
    for (const each of malformed) assert.deepEqual(all(...each), nothing);
  });
});

describe('the number and the dates of a certificate', () => {
  it('is hex in whole bytes with its sign', () => {
    const numbers: readonly (readonly [string, string])[] = [
      ['00', '0'],
      ['05', '05'],
      ['0f', '0f'],
      ['00ff01', 'ff01'],
      ['ff', '-01'],
      ['8001', '-7fff'],
      [`7f${'ab'.repeat(199)}`, `7f${'ab'.repeat(199)}`],
    ];
    for (const [content, shown] of numbers) {
      assert.equal(facts({ serial: Buffer.from(content, 'hex') }).serial, shown);
    }
  });

  it('are read in every form that Envoy takes, and refused in all others', () => {
    const dates: readonly (readonly [number, string, string | undefined])[] = [
      [23, '491231235959Z', '2049-12-31T23:59:59.000Z'],
      [23, '500101000000Z', '1950-01-01T00:00:00.000Z'],
      [23, '300101000000+0130', '2029-12-31T22:30:00.000Z'],
      [23, '300101000000-0130', '2030-01-01T01:30:00.000Z'],
      [24, '99991231235959Z', '9999-12-31T23:59:59.000Z'],
      [23, '301332000000Z', undefined],
      [23, '300230000000Z', undefined],
      [23, '3001010000Z', undefined],
      [23, '300101235960Z', undefined],
      [23, '', undefined],
      [23, 'hello', undefined],
      [24, '20300101000000.5Z', undefined],
    ];
    for (const [tag, text, shown] of dates) {
      const present = certificate({ to: der(tag, latin1(text)) });
      const { validToMs } = new X509Facts(present);
      assert.equal(isReadable(present.raw), shown !== undefined, text);
      if (shown === undefined) assert.ok(Number.isNaN(validToMs));
      else assert.equal(new Date(validToMs).toISOString(), shown);
    }
  });
});
