/**
 * The names in a certificate as text that may stand in a log line or a header: distinguished names
 * in the form of RFC 2253 (ASCII alone), the bytes of subject alternative names as latin1.
 */
import type { X509Certificate } from 'node:crypto';
import { type CertificateParts, readCertificate } from './certificate-parts.ts';
import { type DerElement, elementsIn, readOid, wholeOf } from './der.ts';
import { readOtherName } from './other-name.ts';

export interface SubjectAltName {
  readonly kind: 'dns' | 'uri' | 'ip' | 'email' | 'other';
  /** A byte in each character. */
  readonly value: string;
  /** What kind of other name it is. */
  readonly oid?: string;
}

const OTHER_NAME = 0xa0;
const SUBJECT_ALT_NAME = '2.5.29.17';

const KINDS: ReadonlyMap<number, SubjectAltName['kind']> = new Map([
  [0x81, 'email'],
  [0x82, 'dns'],
  [0x86, 'uri'],
  [0x87, 'ip'],
  // Names of other kinds: X.400, directory, EDI and registered identifier.
  [0xa3, 'other'],
  [0xa4, 'other'],
  [0xa5, 'other'],
  [0x88, 'other'],
]);

/** In the certificate's order; none of what is malformed, as in Envoy. */
export function subjectAltNames(certificate: X509Certificate): readonly SubjectAltName[] {
  const parts = readCertificate(certificate.raw);
  return parts === undefined ? [] : altNamesOf(parts);
}

export function altNamesOf({ raw, extensions }: CertificateParts): readonly SubjectAltName[] {
  const list = extensions.get(SUBJECT_ALT_NAME);
  if (list === undefined) return [];
  const elements = elementsIn(raw, list);
  if ((elements.at(-1)?.end ?? list.start) !== list.end) return [];
  const names: SubjectAltName[] = [];
  for (const element of elements) {
    const { tag, start, end } = element;
    if (tag === OTHER_NAME) {
      const name = readOtherName(raw, element);
      if (name === undefined) return [];
      names.push({ kind: 'other', ...name });
      continue;
    }
    const kind = KINDS.get(tag);
    if (kind === undefined) return [];
    const value =
      kind === 'ip' ? ipText(raw.subarray(start, end)) : raw.toString('latin1', start, end);
    names.push({ kind, value });
  }
  return names;
}

/** As inet_ntop prints it; empty for what is no address. */
function ipText(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.length !== 16) return '';
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2));
  const { from, length } = longestZeros(groups);
  const isMapped = from === 0 && (length === 6 || (length === 5 && groups[5] === 0xffff));
  const last = isMapped ? [bytes.subarray(12).join('.')] : [];
  const shown = (isMapped ? groups.slice(0, 6) : groups).map((group) => group.toString(16));
  if (length < 2) return [...shown, ...last].join(':');
  const before = shown.slice(0, from).join(':');
  return `${before}::${[...shown.slice(from + length), ...last].join(':')}`;
}

function longestZeros(groups: readonly number[]): {
  readonly from: number;
  readonly length: number;
} {
  let longest = { from: 0, length: 0 };
  let length = 0;
  for (const [index, group] of groups.entries()) {
    length = group === 0 ? length + 1 : 0;
    if (length > longest.length) longest = { from: index - length + 1, length };
  }
  return longest;
}

/** Lower case hex in whole bytes, with a minus before it where it is negative. */
export function serialText({ raw, serial: { start, end } }: CertificateParts): string {
  const content = raw.subarray(start, end);
  const isNegative = (content[0] ?? 0) >= 0x80;
  let value = BigInt(`0x${content.toString('hex') || '0'}`);
  if (isNegative) value = (1n << BigInt(content.length * 8)) - value;
  const hex = value.toString(16);
  const whole = value !== 0n && hex.length % 2 === 1 ? `0${hex}` : hex;
  return isNegative ? `-${whole}` : whole;
}

/** The last attribute first, as RFC 2253 has it; `name` is a Name of X.501. */
export function distinguishedName(raw: Buffer, name: DerElement): string {
  const sets = elementsIn(raw, name).map((set) =>
    elementsIn(raw, set)
      .map((pair) => attributeText(raw, pair))
      .reverse()
      .join('+'),
  );
  return sets.reverse().join(',');
}

function attributeText(raw: Buffer, pair: DerElement): string {
  const [type, value] = elementsIn(raw, pair);
  if (type === undefined || value === undefined) return '';
  const oid = readOid(raw, type);
  const name = shortName(oid);
  const text = name === undefined ? undefined : decode(raw, value);
  const shown = text === undefined ? `#${hexOf(raw, value)}` : escape(text);
  return `${name ?? oid}=${shown}`;
}

function hexOf(raw: Buffer, element: DerElement): string {
  return wholeOf(raw, element).toString('hex').toUpperCase();
}

const UTF8 = 12;
const UNIVERSAL = 28;
const BMP = 30;
/** Numeric, printable, teletex, IA5, visible strings and times: a character in each byte. */
const SINGLE_BYTES = new Set([18, 19, 20, 22, 23, 24, 26]);

/** Undefined for what is no text. */
function decode(raw: Buffer, { tag, start, end }: DerElement): string | undefined {
  if (SINGLE_BYTES.has(tag)) return raw.toString('latin1', start, end);
  if (tag === UTF8) {
    const text = raw.toString('utf8', start, end);
    return Buffer.byteLength(text) === end - start ? text : undefined;
  }
  const width = tag === BMP ? 2 : tag === UNIVERSAL ? 4 : 0;
  if (width === 0 || (end - start) % width !== 0) return undefined;
  let text = '';
  for (let at = start; at < end; at += width) {
    const point = raw.readUIntBE(at, width);
    if (point > 0x10_ffff || (point >= 0xd800 && point < 0xe000)) return undefined;
    text += String.fromCodePoint(point);
  }
  return text;
}

/** Whatever is no printable ASCII appears as the bytes of its UTF-8. */
function escape(text: string): string {
  const escaped = text
    .replace(/[,+"\\<>;]/g, '\\$&')
    .replace(/^[ #]/, '\\$&')
    .replace(/(?<!^\\) $/, '\\ ');
  return escaped.replace(/[^\u0020-\u007e]+/g, (part) =>
    Buffer.from(part).toString('hex').toUpperCase().replace(/../g, '\\$&'),
  );
}

/** The numbers of an attribute's or a name's type, which may be written by its short name. */
export function oidOf(text: string): string | undefined {
  for (const [prefix, names] of SHORT_NAMES) {
    for (const [last, name] of names) if (name === text) return prefix + last;
  }
  return OID.test(text) ? text : undefined;
}

/** Below the first two roots there are forty arcs each; at least one more follows a root. */
const OID = /^(?:[01]\.(?:[1-3]?\d)|2\.(?:0|[1-9]\d*))(?:\.(?:0|[1-9]\d*))*$/;

function shortName(oid: string): string | undefined {
  for (const [prefix, names] of SHORT_NAMES) {
    if (oid.startsWith(prefix)) return names.get(oid.slice(prefix.length));
  }
  return undefined;
}

function numbered(first: number, names: string): [string, string][] {
  return names.split(' ').map((name, index) => [String(first + index), name]);
}

/** Attributes as Envoy abbreviates them; others appear by number, with their value in hex. */
const SHORT_NAMES: readonly (readonly [prefix: string, names: ReadonlyMap<string, string>])[] = [
  [
    '2.5.4.',
    new Map([
      ...numbered(3, 'CN SN serialNumber C L ST street O OU title description searchGuide'),
      ...numbered(15, 'businessCategory postalAddress postalCode postOfficeBox'),
      ...numbered(19, 'physicalDeliveryOfficeName telephoneNumber telexNumber'),
      ...numbered(22, 'teletexTerminalIdentifier facsimileTelephoneNumber x121Address'),
      ...numbered(25, 'internationaliSDNNumber registeredAddress destinationIndicator'),
      ...numbered(28, 'preferredDeliveryMethod presentationAddress supportedApplicationContext'),
      ...numbered(31, 'member owner roleOccupant seeAlso userPassword userCertificate'),
      ...numbered(37, 'cACertificate authorityRevocationList certificateRevocationList'),
      ...numbered(40, 'crossCertificatePair name GN initials generationQualifier'),
      ...numbered(45, 'x500UniqueIdentifier dnQualifier enhancedSearchGuide protocolInformation'),
      ...numbered(49, 'distinguishedName uniqueMember houseIdentifier supportedAlgorithms'),
      ...numbered(53, 'deltaRevocationList dmdName'),
      ['65', 'pseudonym'],
      ['72', 'role'],
    ]),
  ],
  [
    '0.9.2342.19200300.100.1.',
    new Map([
      ...numbered(1, 'UID textEncodedORAddress mail info favouriteDrink roomNumber photo'),
      ...numbered(8, 'userClass host manager documentIdentifier documentTitle documentVersion'),
      ...numbered(14, 'documentAuthor documentLocation'),
      ...numbered(20, 'homeTelephoneNumber secretary otherMailbox lastModifiedTime'),
      ...numbered(24, 'lastModifiedBy DC aRecord pilotAttributeType27 mXRecord nSRecord sOARecord'),
      ...numbered(37, 'associatedDomain associatedName homePostalAddress personalTitle'),
      ...numbered(41, 'mobileTelephoneNumber pagerTelephoneNumber friendlyCountryName'),
      ...numbered(45, 'organizationalStatus janetMailbox mailPreferenceOption buildingName'),
      ...numbered(49, 'dSAQuality singleLevelQuality subtreeMinimumQuality'),
      ...numbered(52, 'subtreeMaximumQuality personalSignature dITRedirect audio'),
      ['56', 'documentPublisher'],
    ]),
  ],
  ['1.3.6.1.4.1.311.20.2.', new Map([['3', 'msUPN']])],
  [
    '1.2.840.113549.1.9.',
    new Map([
      ...numbered(1, 'emailAddress unstructuredName contentType messageDigest signingTime'),
      ...numbered(6, 'countersignature challengePassword unstructuredAddress'),
      ['9', 'extendedCertificateAttributes'],
      ...numbered(14, 'extReq SMIME-CAPS'),
      ...numbered(20, 'friendlyName localKeyID'),
    ]),
  ],
];
