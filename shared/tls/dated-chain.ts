/**
 * OpenSSL tells its last complaint only, and that of dates comes after almost all others. Where
 * dates may be wrong (allow_expired_certificate), what such a complaint hides is looked for here.
 */
import type { X509Certificate } from 'node:crypto';
import { type CertificateParts, pemBlocks, readCertificate } from './certificate-parts.ts';
import { type DerElement, elementAt, elementsIn, TAG, wholeOf } from './der.ts';

/** What a peer's certificate is for. */
export type PeerRole = 'client' | 'host';

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const BASIC_CONSTRAINTS = '2.5.29.19';
/** Critical extensions that OpenSSL judges: any other refuses a certificate. */
const JUDGED = new Set([
  '2.5.29.15',
  '2.5.29.17',
  BASIC_CONSTRAINTS,
  '2.5.29.30',
  '2.5.29.32',
  '2.5.29.33',
  '2.5.29.36',
  '2.5.29.37',
  '2.5.29.54',
]);

export interface ChainRules {
  readonly role: PeerRole;
  /** PEM; absent: nothing is revoked. */
  readonly crl: string | undefined;
}

/**
 * OpenSSL's name of a fault; `chain` begins with the peer's certificate and ends with an authority.
 */
export function hiddenFault(
  chain: readonly X509Certificate[],
  { role, crl }: ChainRules,
): string | undefined {
  const lists = crl === undefined ? undefined : pemBlocks(crl, 'X509 CRL').map(readList);
  for (const [depth, certificate] of chain.entries()) {
    const parts = readCertificate(certificate.raw);
    if (parts === undefined) return 'INVALID_EXTENSION';
    const fault =
      faultOfExtensions(certificate, parts, { depth, role }) ??
      (lists === undefined ? undefined : faultOfLists(parts, lists));
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultOfExtensions(
  certificate: X509Certificate,
  parts: CertificateParts,
  { depth, role }: { readonly depth: number; readonly role: PeerRole },
): string | undefined {
  if (parts.critical.some((name) => !JUDGED.has(name))) return 'UNHANDLED_CRITICAL_EXTENSION';
  if (depth > 0 && !mayIssue(certificate, parts)) return 'INVALID_CA';
  const purposes = certificate.keyUsage as readonly string[] | undefined;
  const wanted = role === 'client' ? CLIENT_AUTH : SERVER_AUTH;
  if (purposes !== undefined && !purposes.includes(wanted)) return 'INVALID_PURPOSE';
  const longest = pathLength(parts);
  return longest !== undefined && depth - 1 > longest ? 'PATH_LENGTH_EXCEEDED' : undefined;
}

/**
 * Certificates of the first version cannot say that they may: as authorities they are trusted for
 * it.
 */
function mayIssue(certificate: X509Certificate, parts: CertificateParts): boolean {
  if (certificate.ca) return true;
  const { raw, subject, issuer, hasExtensions } = parts;
  return !hasExtensions && wholeOf(raw, subject).equals(wholeOf(raw, issuer));
}

/** SEQUENCE { BOOLEAN, INTEGER } */
function pathLength({ raw, extensions }: CertificateParts): number | undefined {
  const constraints = extensions.get(BASIC_CONSTRAINTS);
  const length = constraints && elementsIn(raw, constraints).find(({ tag }) => tag === TAG.integer);
  if (length === undefined) return undefined;
  const hex = raw.toString('hex', length.start, length.end);
  return Number.parseInt(hex === '' ? '0' : hex, 16);
}

interface RevocationList {
  readonly issuer: Buffer;
  /** Numbers in hex, as they stand there. */
  readonly revoked: ReadonlySet<string>;
}

/**
 * SEQUENCE { version OPTIONAL, algorithm, issuer, time, time OPTIONAL, SEQUENCE OF { serial, ... }
 * }
 */
function readList(raw: Buffer): RevocationList {
  const whole = elementAt(raw, 0);
  const tbs = whole && elementAt(raw, whole.start, whole.end);
  const all = tbs === undefined ? [] : elementsIn(raw, tbs);
  const fields = all[0]?.tag === TAG.integer ? all.slice(1) : all;
  const [, issuer] = fields;
  const entries = fields.slice(2).find(({ tag }) => tag === TAG.sequence);
  const serials = entries === undefined ? [] : elementsIn(raw, entries);
  return {
    issuer: issuer === undefined ? Buffer.of() : wholeOf(raw, issuer),
    revoked: new Set(serials.map((entry) => firstHex(raw, entry))),
  };
}

function firstHex(raw: Buffer, entry: DerElement): string {
  const serial = elementAt(raw, entry.start, entry.end);
  return serial === undefined ? '' : raw.toString('hex', serial.start, serial.end);
}

function faultOfLists(
  { raw, issuer, serial }: CertificateParts,
  lists: readonly RevocationList[],
): string | undefined {
  const name = wholeOf(raw, issuer);
  const known = lists.filter((list) => list.issuer.equals(name));
  if (known.length === 0) return 'UNABLE_TO_GET_CRL';
  const number = raw.toString('hex', serial.start, serial.end);
  return known.some(({ revoked }) => revoked.has(number)) ? 'CERT_REVOKED' : undefined;
}
