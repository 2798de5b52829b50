/**
 * What the oauth2 filter signs and encrypts, in the formats that Envoy reads too. Secrets and texts
 * have one character per byte.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

const CBC = 'aes-256-cbc';
const GCM = 'aes-256-gcm';
const CBC_VECTOR_BYTES = 16;
const GCM_VECTOR_BYTES = 12;
const GCM_TAG_BYTES = 16;
/** Marks what was encrypted by GCM. */
const GCM_PREFIX = 'gcm.';
const VERIFIER_BYTES = 32;
const NONCE_BYTES = 8;

export type Opened =
  | { readonly text: string; readonly isCbc: boolean }
  | { readonly error: string };

function keyOf(secret: string): Buffer {
  return createHash('sha256').update(secret, 'latin1').digest();
}

export function seal(text: string, secret: string, usesGcm: boolean): string {
  const vector = randomBytes(usesGcm ? GCM_VECTOR_BYTES : CBC_VECTOR_BYTES);
  if (!usesGcm) {
    const cipher = createCipheriv(CBC, keyOf(secret), vector);
    const parts = [vector, cipher.update(text, 'latin1'), cipher.final()];
    return Buffer.concat(parts).toString('base64url');
  }
  const cipher = createCipheriv(GCM, keyOf(secret), vector);
  const parts = [vector, cipher.update(text, 'latin1'), cipher.final(), cipher.getAuthTag()];
  return GCM_PREFIX + Buffer.concat(parts).toString('base64url');
}

export function open(sealed: string, secret: string, allowsCbc: boolean): Opened {
  if (sealed.startsWith(GCM_PREFIX)) return openGcm(sealed.slice(GCM_PREFIX.length), secret);
  const bytes = Buffer.from(sealed, 'base64url');
  if (!allowsCbc || bytes.length <= CBC_VECTOR_BYTES) return { error: 'Invalid encrypted data' };
  try {
    const decipher = createDecipheriv(CBC, keyOf(secret), bytes.subarray(0, CBC_VECTOR_BYTES));
    const parts = [decipher.update(bytes.subarray(CBC_VECTOR_BYTES)), decipher.final()];
    return { text: Buffer.concat(parts).toString('latin1'), isCbc: true };
  } catch {
    return { error: 'failed to finalize decryption' };
  }
}

function openGcm(sealed: string, secret: string): Opened {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length < GCM_VECTOR_BYTES + GCM_TAG_BYTES) return { error: 'Invalid encrypted data' };
  try {
    const vector = bytes.subarray(0, GCM_VECTOR_BYTES);
    const decipher = createDecipheriv(GCM, keyOf(secret), vector, {
      authTagLength: GCM_TAG_BYTES,
    });
    decipher.setAuthTag(bytes.subarray(-GCM_TAG_BYTES));
    const parts = [
      decipher.update(bytes.subarray(GCM_VECTOR_BYTES, -GCM_TAG_BYTES)),
      decipher.final(),
    ];
    return { text: Buffer.concat(parts).toString('latin1'), isCbc: false };
  } catch {
    return { error: 'failed to finalize decryption' };
  }
}

export interface SignedValues {
  readonly domain: string;
  readonly expires: string;
  readonly access: string;
  readonly id: string;
  readonly refresh: string;
}

export function signTokens(values: SignedValues, secret: string): string {
  return hmac(payloadOf(values), secret).toString('base64');
}

/** Older versions of Envoy signed in another form, which is still good. */
export function areTokensSigned(values: SignedValues, given: string, secret: string): boolean {
  const digest = hmac(payloadOf(values), secret);
  const isNow = isSame(digest.toString('base64'), given);
  const older = Buffer.from(digest.toString('hex')).toString('base64');
  return isSame(older, given) || isNow;
}

function payloadOf({ domain, expires, access, id, refresh }: SignedValues): string {
  return [domain, expires, access, id, refresh].join('\n');
}

function hmac(text: string, secret: string): Buffer {
  return createHmac('sha256', Buffer.from(secret, 'latin1')).update(text, 'latin1').digest();
}

/** In a time that does not tell where they differ. */
export function isSame(a: string, b: string): boolean {
  return (
    a.length === b.length && timingSafeEqual(Buffer.from(a, 'latin1'), Buffer.from(b, 'latin1'))
  );
}

/** Names one login. */
export function makeFlowId(): string {
  return randomBytes(NONCE_BYTES).toString('hex');
}

/** A nonce that only this proxy can have made. */
export function signNonce(nonce: string, secret: string): string {
  return `${nonce}.${hmac(nonce, secret).toString('base64')}`;
}

export function isNonceSigned(token: string, secret: string): boolean {
  const dot = token.indexOf('.');
  return dot >= 0 && isSame(signNonce(token.slice(0, dot), secret), token);
}

/** RFC 7636. */
export function makeVerifier(): string {
  return randomBytes(VERIFIER_BYTES).toString('base64url');
}

export function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier, 'latin1').digest('base64url');
}
