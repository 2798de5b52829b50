/**
 * The parts of a certificate in its DER form (RFC 5280, 4.1), as they stand there: what the runtime
 * says of them is made for reading, loses bytes and, where a part is empty or odd, is missing.
 *
 *   Certificate ::= SEQUENCE { tbs SEQUENCE { [0] version OPTIONAL, serial, algorithm, issuer,
 *     validity { notBefore, notAfter }, subject, public key, ..., [3] extensions OPTIONAL }, ... }
 */
import { type DerElement, elementAt, elementsIn, readOid, readTime, TAG } from './der.ts';

export interface CertificateParts {
  readonly raw: Buffer;
  /** An INTEGER. */
  readonly serial: DerElement;
  readonly issuer: DerElement;
  readonly subject: DerElement;
  /** Unix milliseconds; NaN where the certificate has no such time. */
  readonly validFromMs: number;
  readonly validToMs: number;
  /** SubjectPublicKeyInfo. */
  readonly publicKey: DerElement;
  /** What stands in extensions, by their identifiers; nothing of those with the same identifier. */
  readonly extensions: ReadonlyMap<string, DerElement>;
  /** Identifiers of those that are critical. */
  readonly critical: readonly string[];
  readonly hasExtensions: boolean;
}

type Extensions = Pick<CertificateParts, 'extensions' | 'critical'>;

const NO_EXTENSIONS: Extensions = { extensions: new Map(), critical: [] };
const VERSION = 0xa0;
const EXTENSIONS = 0xa3;

/** Undefined for what is no certificate. */
export function readCertificate(raw: Buffer): CertificateParts | undefined {
  const whole = elementAt(raw, 0);
  const tbs = whole && elementAt(raw, whole.start, whole.end);
  if (tbs === undefined) return undefined;
  const all = elementsIn(raw, tbs);
  const fields = all[0]?.tag === VERSION ? all.slice(1) : all;
  const [serial, , issuer, validity, subject, publicKey] = fields;
  if (serial === undefined || issuer === undefined || validity === undefined) return undefined;
  if (subject === undefined || publicKey === undefined) return undefined;
  const [from, to] = elementsIn(raw, validity);
  const extensions = fields.find(({ tag }) => tag === EXTENSIONS);
  return {
    raw,
    serial,
    issuer,
    subject,
    validFromMs: from === undefined ? Number.NaN : readTime(raw, from),
    validToMs: to === undefined ? Number.NaN : readTime(raw, to),
    publicKey,
    ...(extensions === undefined ? NO_EXTENSIONS : readExtensions(raw, extensions)),
    hasExtensions: extensions !== undefined,
  };
}

/** Whether Envoy could read a peer's certificate: OpenSSL lets dates pass that are none. */
export function isReadable(raw: Buffer): boolean {
  const parts = readCertificate(raw);
  return parts !== undefined && !Number.isNaN(parts.validFromMs + parts.validToMs);
}

/** [3] { SEQUENCE { SEQUENCE { identifier, critical OPTIONAL, OCTET STRING { value } } ... } } */
function readExtensions(raw: Buffer, outer: DerElement): Extensions {
  const critical: string[] = [];
  const found = new Map<string, DerElement>();
  const seen = new Set<string>();
  const list = elementAt(raw, outer.start, outer.end);
  for (const extension of list === undefined ? [] : elementsIn(raw, list)) {
    const [identifier, ...rest] = elementsIn(raw, extension);
    const value = rest.at(-1);
    if (identifier?.tag !== TAG.oid || value?.tag !== TAG.octetString) continue;
    const name = readOid(raw, identifier);
    if (rest.length > 1) critical.push(name);
    const inner = elementAt(raw, value.start, value.end);
    const isWhole = inner?.end === value.end && !seen.has(name);
    if (inner !== undefined && isWhole) found.set(name, inner);
    else found.delete(name);
    seen.add(name);
  }
  return { extensions: found, critical };
}

/** The certificates or lists of a PEM text, in their order; `label` is such as `CERTIFICATE`. */
export function pemBlocks(pem: string, label: string): readonly Buffer[] {
  const blocks = pem.matchAll(
    new RegExp(`-----BEGIN ${label}-----([^-]+)-----END ${label}-----`, 'g'),
  );
  return [...blocks].map(([, text = '']) => Buffer.from(text, 'base64'));
}
