/**
 * Signatures of AWS: version 4 with a shared secret for one region (`AWS4-HMAC-SHA256`), and 4a with
 * a key pair that follows from it, for a set of regions (`AWS4-ECDSA-P256-SHA256`).
 */
import { createHmac, createECDH, createPrivateKey, sign, type KeyObject } from 'node:crypto';
import { sha256Hex, type CanonicalRequest } from './canonical-request.ts';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Empty: there is none. */
  readonly sessionToken: string;
}

export type SigningAlgorithm = 'v4' | 'v4a';

export const ALGORITHM_NAMES = {
  v4: 'AWS4-HMAC-SHA256',
  v4a: 'AWS4-ECDSA-P256-SHA256',
} as const satisfies Readonly<Record<SigningAlgorithm, string>>;

/** What a signature is for. */
export interface SigningScope {
  readonly algorithm: SigningAlgorithm;
  readonly service: string;
  readonly region: string;
  /** `YYYYMMDDTHHMMSSZ` */
  readonly date: string;
}

/** As `x-amz-date` says it. */
export function amzDate(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
}

/** Behind the key's name in a credential. */
export function credentialScope({ algorithm, service, region, date }: SigningScope): string {
  const day = date.slice(0, 8);
  return algorithm === 'v4'
    ? `${day}/${region}/${service}/aws4_request`
    : `${day}/${service}/aws4_request`;
}

export function stringToSign(scope: SigningScope, canonicalText: string): string {
  const { algorithm, date } = scope;
  return `${ALGORITHM_NAMES[algorithm]}\n${date}\n${credentialScope(scope)}\n${sha256Hex(canonicalText)}`;
}

/** Makes signatures; the keys that follow from credentials are kept as long as they fit. */
export class Signer {
  #day: { readonly of: string; readonly key: Buffer } | undefined = undefined;
  #pair: { readonly of: string; readonly key: KeyObject } | undefined = undefined;

  /** In hexadecimal digits. */
  signature(credentials: AwsCredentials, scope: SigningScope, canonicalText: string): string {
    const text = stringToSign(scope, canonicalText);
    if (scope.algorithm === 'v4a') {
      return sign('sha256', Buffer.from(text, 'latin1'), this.#keyPair(credentials)).toString(
        'hex',
      );
    }
    return hmac(this.#dayKey(credentials, scope), text).toString('hex');
  }

  #dayKey({ secretAccessKey }: AwsCredentials, { date, region, service }: SigningScope): Buffer {
    const day = date.slice(0, 8);
    const of = `${day}/${region}/${service}/${secretAccessKey}`;
    if (this.#day?.of !== of) {
      let key: Buffer = Buffer.from(`AWS4${secretAccessKey}`);
      for (const part of [day, region, service, 'aws4_request']) key = hmac(key, part);
      this.#day = { of, key };
    }
    return this.#day.key;
  }

  #keyPair(credentials: AwsCredentials): KeyObject {
    const of = `${credentials.accessKeyId}/${credentials.secretAccessKey}`;
    if (this.#pair?.of !== of) this.#pair = { of, key: deriveKeyPair(credentials) };
    return this.#pair.key;
  }
}

/** The order of P-256, less two: the largest number that a candidate may be. */
const CANDIDATE_MAX = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc63254fn;
const COUNTER_MAX = 254;

/** NIST SP 800-108 in counter mode, until a candidate fits; the first does but for one in 2³². */
export function deriveKeyPair({ accessKeyId, secretAccessKey }: AwsCredentials): KeyObject {
  const secret = Buffer.from(`AWS4A${secretAccessKey}`);
  for (let counter = 1; counter <= COUNTER_MAX; counter++) {
    const input = Buffer.concat([
      Buffer.from([0, 0, 0, 1]),
      Buffer.from(ALGORITHM_NAMES.v4a),
      Buffer.from([0]),
      Buffer.from(accessKeyId),
      Buffer.from([counter, 0, 0, 1, 0]),
    ]);
    const candidate = BigInt(`0x${hmac(secret, input).toString('hex')}`);
    if (candidate > CANDIDATE_MAX) continue;
    return privateKey((candidate + 1n).toString(16).padStart(64, '0'));
  }
  throw new Error('no signing key follows from these credentials');
}

function privateKey(hex: string): KeyObject {
  const curve = createECDH('prime256v1');
  curve.setPrivateKey(hex, 'hex');
  const point = curve.getPublicKey();
  const key = {
    kty: 'EC',
    crv: 'P-256',
    d: Buffer.from(hex, 'hex').toString('base64url'),
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  };
  return createPrivateKey({ key, format: 'jwk' });
}

function hmac(key: Buffer, data: string | Buffer): Buffer {
  const mac = createHmac('sha256', key);
  return (typeof data === 'string' ? mac.update(data, 'latin1') : mac.update(data)).digest();
}

/** The value of the header that carries a signature. */
export function authorization(
  signer: Signer,
  credentials: AwsCredentials,
  scope: SigningScope,
  { text, signedHeaders }: CanonicalRequest,
): string {
  const signature = signer.signature(credentials, scope, text);
  const credential = `${credentials.accessKeyId}/${credentialScope(scope)}`;
  const name = ALGORITHM_NAMES[scope.algorithm];
  return `${name} Credential=${credential}, SignedHeaders=${signedHeaders}, Signature=${signature}`;
}
