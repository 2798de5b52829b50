/** JSON Web Tokens for tests: keys, key sets and signed tokens of every algorithm. */
import {
  constants,
  createHmac,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';

export interface Signer {
  readonly alg: string;
  readonly kid: string;
  /** As it stands in a set of keys. */
  readonly jwk: object;
  /** Empty for secrets. */
  readonly publicPem: string;
  sign(payload: object | string, header?: object): string;
}

interface SignerOptions {
  readonly kid?: string;
  /** The secret of algorithms with a shared one. */
  readonly secret?: Buffer;
}

const CURVES: ReadonlyMap<string, string> = new Map([
  ['ES256', 'P-256'],
  ['ES384', 'P-384'],
  ['ES512', 'P-521'],
]);

/** With a key of its own. */
export function makeSigner(alg: string, { kid = 'key', secret }: SignerOptions = {}): Signer {
  const hash = `sha${alg.slice(2)}`;
  if (alg.startsWith('HS')) {
    const key = secret ?? randomBytes(32);
    const jwk = { kty: 'oct', k: key.toString('base64url'), kid, alg };
    const made = (data: Buffer): Buffer => createHmac(hash, key).update(data).digest();
    return { alg, kid, jwk, publicPem: '', sign: signerOf(alg, kid, made) };
  }
  const { publicKey, privateKey } = keyPair(alg);
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid, alg };
  const publicPem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  const made = (data: Buffer): Buffer => signed(alg, hash, data, privateKey);
  return { alg, kid, jwk, publicPem, sign: signerOf(alg, kid, made) };
}

export function jwks(signers: readonly Signer[]): string {
  return JSON.stringify({ keys: signers.map(({ jwk }) => jwk) });
}

export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

function keyPair(alg: string): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  const namedCurve = CURVES.get(alg);
  if (namedCurve !== undefined) return generateKeyPairSync('ec', { namedCurve });
  if (alg === 'EdDSA') return generateKeyPairSync('ed25519');
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}

function signed(alg: string, hash: string, data: Buffer, key: KeyObject): Buffer {
  if (alg === 'EdDSA') return sign(null, data, key);
  if (alg.startsWith('ES')) return sign(hash, data, { key, dsaEncoding: 'ieee-p1363' });
  if (alg.startsWith('RS')) return sign(hash, data, key);
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  return sign(hash, data, { key, padding, saltLength: constants.RSA_PSS_SALTLEN_DIGEST });
}

function signerOf(alg: string, kid: string, made: (data: Buffer) => Buffer): Signer['sign'] {
  return (payload, header = { alg, kid }) => {
    const data = `${encode(header)}.${encode(payload)}`;
    return `${data}.${made(Buffer.from(data)).toString('base64url')}`;
  };
}

function encode(value: object | string): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString(
    'base64url',
  );
}
