/**
 * Reads a JSON Web Key Set (RFC 7517) as Envoy does: keys that it cannot use are left out, and a set
 * without any usable key is refused with what was wrong with the first one.
 */
import {
  createPublicKey,
  createSecretKey,
  type JsonWebKey,
  type KeyObject,
  X509Certificate,
} from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import { memberOf } from '../text/dictionary.ts';
import { decodeWebBase64 } from './web-base64.ts';

/** A larger set is refused; real ones have some kilobytes. */
export const JWKS_BYTES_MAX = 1024 * 1024;
/** Further keys are left out. */
const KEYS_MAX = 1000;
/** Shorter RSA keys can be broken; BoringSSL refuses to use them too. */
const RSA_BITS_MIN = 512;
const RSA_BITS_MAX = 16 * 1024;

export type KeyKind = 'RSA' | 'EC' | 'oct' | 'OKP';

export interface VerificationKey {
  readonly kind: KeyKind;
  /** Empty where the key does not say. */
  readonly kid: string;
  /** The one algorithm that the key is for; empty: all of its kind. */
  readonly alg: string;
  /** An elliptic curve's name; empty for all other keys. */
  readonly curve: string;
  readonly key: KeyObject;
}

export type JwksResult =
  | { readonly keys: readonly VerificationKey[] }
  | { readonly problem: string };

const INVALID = { problem: 'Jwks is an invalid JSON' };
const NO_KEYS = { problem: 'Jwks does not have [keys] field' };
const BAD_KEYS = '[keys] in Jwks is not a list';
const NO_VALID = "Jwks doesn't have any valid public key";

export function readJwks(bytes: Buffer): JwksResult {
  if (bytes.length > JWKS_BYTES_MAX || !isUtf8(bytes)) return INVALID;
  const set = parseJson(bytes.toString());
  if (typeof set !== 'object' || set === null || Array.isArray(set)) return INVALID;
  const list = memberOf(set, 'keys');
  if (list === undefined) return readCertificates(set);
  if (!Array.isArray(list)) return { problem: BAD_KEYS };
  return collect(list.slice(0, KEYS_MAX).map(readKey));
}

/** Numbers are base64 in which Envoy skips blanks. */
const BLANKS = /[ \t\n\v\f\r]+/g;
const STRINGS = /"[^"\\]*(?:\\.[^"\\]*)*"/gs;
// What it looks for are control characters.
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\0-\x1f]/g;

/**
 * Envoy's reader takes control characters within strings, such as the line ends of a folded block
 * of YAML. Undefined: no JSON.
 */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return parseEscaped(text);
  }
}

function parseEscaped(text: string): unknown {
  const escape = (control: string): string =>
    `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`;
  try {
    return JSON.parse(text.replace(STRINGS, (string) => string.replace(CONTROLS, escape)));
  } catch {
    return undefined;
  }
}

/** The keys, or what is wrong with the first of those that are none. */
function collect(read: readonly (VerificationKey | string)[]): JwksResult {
  const keys = read.filter((each) => typeof each !== 'string');
  if (keys.length > 0) return { keys };
  const [first] = read;
  return { problem: typeof first === 'string' ? first : NO_VALID };
}

/** Some issuers publish an object of certificates by key id. */
function readCertificates(set: object): JwksResult {
  const entries = Object.entries(set);
  if (entries.length === 0 || entries.some(([, value]) => typeof value !== 'string')) {
    return NO_KEYS;
  }
  return collect(entries.slice(0, KEYS_MAX).map(([kid, pem]) => readCertificate(kid, String(pem))));
}

function readCertificate(kid: string, pem: string): VerificationKey | string {
  try {
    const { publicKey: key } = new X509Certificate(pem);
    const kind = KINDS.get(key.asymmetricKeyType ?? '');
    if (kind === undefined) return 'X509 certificate public key is not supported';
    return { kind, kid, alg: '', curve: curveOf(key), key };
  } catch {
    return 'Jwks X509 is not a valid certificate';
  }
}

const KINDS: ReadonlyMap<string, KeyKind> = new Map([
  ['rsa', 'RSA'],
  ['ec', 'EC'],
  ['ed25519', 'OKP'],
]);

const CURVES: ReadonlyMap<string, string> = new Map([
  ['prime256v1', 'P-256'],
  ['secp384r1', 'P-384'],
  ['secp521r1', 'P-521'],
]);

function curveOf({ asymmetricKeyDetails: details }: KeyObject): string {
  return CURVES.get(details?.namedCurve ?? '') ?? '';
}

function readKey(jwk: unknown): VerificationKey | string {
  if (typeof jwk !== 'object' || jwk === null || Array.isArray(jwk)) return BAD_KEYS;
  const kty = memberOf(jwk, 'kty');
  if (kty === undefined) return '[kty] is missing in [keys]';
  if (typeof kty !== 'string') return '[kty] is not string in [keys]';
  const kid = memberOf(jwk, 'kid') ?? '';
  const alg = memberOf(jwk, 'alg') ?? '';
  if (typeof kid !== 'string') return '[kid] is not string in [keys]';
  if (typeof alg !== 'string') return '[alg] is not string in [keys]';
  const reader = READERS.get(kty);
  return reader === undefined ? '[kty] is not supported in [keys]' : reader(jwk, kid, alg);
}

type Reader = (jwk: object, kid: string, alg: string) => VerificationKey | string;

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['RSA', readRsa],
  ['EC', readEc],
  ['oct', readOct],
  ['OKP', readOkp],
]);

function readRsa(jwk: object, kid: string, alg: string): VerificationKey | string {
  if (alg !== '' && !/^[RP]S/.test(alg)) {
    return '[alg] is not started with [RS] or [PS] for an RSA key';
  }
  const [n, e] = [textOf(jwk, 'n'), textOf(jwk, 'e')];
  if (n === undefined) return '[n] field is missing or not a string for a RSA key';
  if (e === undefined) return '[e] field is missing or not a string for a RSA key';
  const key = publicKey({ kty: 'RSA', n, e });
  const bits = key?.asymmetricKeyDetails?.modulusLength ?? 0;
  if (key === undefined || bits < RSA_BITS_MIN || bits > RSA_BITS_MAX) {
    return 'RSA key [n] or [e] is not a valid number';
  }
  return { kind: 'RSA', kid, alg, curve: '', key };
}

const CURVE_OF_ALG: ReadonlyMap<string, string> = new Map([
  ['ES256', 'P-256'],
  ['ES384', 'P-384'],
  ['ES512', 'P-521'],
]);

function readEc(jwk: object, kid: string, alg: string): VerificationKey | string {
  if (alg !== '' && !alg.startsWith('ES')) return '[alg] is not started with [ES] for an EC key';
  const crv = memberOf(jwk, 'crv') ?? '';
  if (typeof crv !== 'string') return '[crv] field is not a string for an EC key';
  const curve = curveFor(alg, crv);
  if (curve === undefined) {
    return alg === '' || crv === ''
      ? '[crv] or [alg] field is not supported for an EC key'
      : '[crv] field specified is not compatible with [alg] for an EC key';
  }
  const [x, y] = [textOf(jwk, 'x'), textOf(jwk, 'y')];
  if (x === undefined) return '[x] field is missing or not a string for an EC key';
  if (y === undefined) return '[y] field is missing or not a string for an EC key';
  const key = publicKey({ kty: 'EC', crv: curve, x, y });
  if (key === undefined) return 'EC public key has a non-point coordinate';
  return { kind: 'EC', kid, alg, curve, key };
}

/** A key says its curve, its algorithm, both in agreement, or is of the usual curve. */
function curveFor(alg: string, crv: string): string | undefined {
  const ofAlg = CURVE_OF_ALG.get(alg);
  if (alg !== '' && crv !== '') return ofAlg === crv ? crv : undefined;
  if (alg !== '') return ofAlg;
  if (crv === '') return 'P-256';
  return [...CURVES.values()].includes(crv) ? crv : undefined;
}

function readOct(jwk: object, kid: string, alg: string): VerificationKey | string {
  if (alg !== '' && !/^HS(256|384|512)$/.test(alg)) {
    return '[alg] does not start with [HS] for an HMAC key';
  }
  const k = textOf(jwk, 'k');
  if (k === undefined) return '[k] field is missing or not a string for an HMAC key';
  const secret = decodeWebBase64(k);
  // An empty secret is known to everybody.
  if (secret === undefined || secret.length === 0) return '[k] field for an HMAC key is invalid';
  return { kind: 'oct', kid, alg, curve: '', key: createSecretKey(secret) };
}

function readOkp(jwk: object, kid: string, alg: string): VerificationKey | string {
  if (alg !== '' && alg !== 'EdDSA') return '[alg] is not [EdDSA] for an OKP key';
  const crv = memberOf(jwk, 'crv');
  if (typeof crv !== 'string') return '[crv] field is missing or not a string for an OKP key';
  if (crv !== 'Ed25519') return '[crv] value is not supported for an OKP key';
  const x = textOf(jwk, 'x');
  if (x === undefined) return '[x] field is missing or not a string for an OKP key';
  const key = publicKey({ kty: 'OKP', crv, x });
  if (key === undefined) return 'OKP key [x] is not a valid key';
  return { kind: 'OKP', kid, alg, curve: '', key };
}

/** Undefined for what is no key. */
function publicKey(jwk: JsonWebKey): KeyObject | undefined {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    return undefined;
  }
}

function textOf(jwk: object, name: string): string | undefined {
  const value = memberOf(jwk, name);
  return typeof value === 'string' && value !== '' ? value.replace(BLANKS, '') : undefined;
}
