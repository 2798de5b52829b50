/**
 * Writes certificates and revocation lists byte by byte (DER), for those that no tool would make:
 * odd names, dates, serial numbers and extensions. Signed with ECDSA on P-256.
 */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

export function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content]);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.of(tag, 0x80 + bytes.length), bytes, content]);
}

export const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((arc) => {
    const sevens = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) sevens.unshift((left & 0x7f) | 0x80);
    return sevens;
  });
  return der(0x06, Buffer.from(bytes));
}

/** Tags of the kinds of text that names are made of. */
export const TEXT = {
  utf8: 12,
  printable: 19,
  t61: 20,
  ia5: 22,
  visible: 26,
  universal: 28,
  bmp: 30,
};

export interface NamePart {
  readonly type: string;
  readonly tag: number;
  readonly value: Buffer;
  /** In the same set as the one before it. */
  readonly joined?: boolean;
}

export function distinguishedName(parts: readonly NamePart[]): Buffer {
  const sets: Buffer[][] = [];
  for (const { type, tag, value, joined } of parts) {
    const pair = sequence(oid(type), der(tag, value));
    const last = sets.at(-1);
    if (joined === true && last !== undefined) last.push(pair);
    else sets.push([pair]);
  }
  return sequence(
    ...sets.map((pairs) => der(0x31, ...pairs.toSorted((one, other) => one.compare(other)))),
  );
}

export const commonName = (name: string): Buffer =>
  distinguishedName([{ type: '2.5.4.3', tag: TEXT.utf8, value: Buffer.from(name) }]);

/** Choices of GeneralName by their numbers. */
export const SAN = { email: 0x81, dns: 0x82, uri: 0x86, ip: 0x87 };

export const altNames = (...names: readonly (readonly [tag: number, value: Buffer])[]): Buffer =>
  extension('2.5.29.17', sequence(...names.map(([tag, value]) => der(tag, value))));

export const extension = (type: string, value: Buffer, isCritical = false): Buffer =>
  sequence(oid(type), ...(isCritical ? [der(0x01, Buffer.of(0xff))] : []), der(0x04, value));

export const isAuthority = (): Buffer =>
  extension('2.5.29.19', sequence(der(0x01, Buffer.of(0xff))), true);

export interface BuiltKeys {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** PEM. */
  readonly key: string;
}

export function makeKeys(): BuiltKeys {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...pair, key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

export interface CertificateDraft {
  readonly subject: Buffer;
  readonly issuer: Buffer;
  readonly keys: BuiltKeys;
  readonly signer: BuiltKeys;
  readonly extensions?: readonly Buffer[];
  /** The content of the INTEGER. */
  readonly serial?: Buffer;
  /** As they are to stand there, with their tags. */
  readonly from?: Buffer;
  readonly to?: Buffer;
}

const ECDSA_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));
const DAY_MS = 24 * 3600 * 1000;

export function utcTime(ms: number): Buffer {
  const text = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '');
  return der(0x17, Buffer.from(text.slice(2)));
}

/** PEM. */
export function buildCertificate(draft: CertificateDraft): string {
  const { subject, issuer, keys, signer, extensions = [] } = draft;
  const now = Date.now();
  const tbs = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, draft.serial ?? Buffer.of(1)),
    ECDSA_SHA256,
    issuer,
    sequence(draft.from ?? utcTime(now - DAY_MS), draft.to ?? utcTime(now + DAY_MS)),
    subject,
    keys.publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length === 0 ? [] : [der(0xa3, sequence(...extensions))]),
  );
  return signed(tbs, signer, 'CERTIFICATE');
}

/** PEM; `serials` are contents of INTEGERs. */
export function buildRevocationList(
  issuer: Buffer,
  signer: BuiltKeys,
  serials: readonly Buffer[],
  next = Date.now() + DAY_MS,
): string {
  const now = utcTime(Date.now() - DAY_MS);
  const entries = serials.map((serial) => sequence(der(0x02, serial), now));
  const tbs = sequence(
    der(0x02, Buffer.of(1)),
    ECDSA_SHA256,
    issuer,
    now,
    utcTime(next),
    ...(entries.length === 0 ? [] : [sequence(...entries)]),
  );
  return signed(tbs, signer, 'X509 CRL');
}

function signed(tbs: Buffer, signer: BuiltKeys, label: string): string {
  const signature = sign('sha256', tbs, signer.privateKey);
  const whole = sequence(tbs, ECDSA_SHA256, der(0x03, Buffer.of(0), signature));
  const text = whole
    .toString('base64')
    .match(/.{1,64}/g)
    ?.join('\n');
  return `-----BEGIN ${label}-----\n${text}\n-----END ${label}-----\n`;
}

export const sha256Hex = (pem: string): string =>
  createHash('sha256')
    .update(Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64'))
    .digest('hex');
