/** Verifies a token's signature (RFC 7518, RFC 8037) by the keys of its issuer. */
import { constants, createHmac, timingSafeEqual, verify } from 'node:crypto';
import type { JwtStatus } from '../../../../shared/jwt/jwt-status.ts';
import type { VerificationKey } from '../../../../shared/jwt/jwks.ts';
import { type Algorithm, algorithmOf } from './algorithms.ts';
import type { ParsedToken } from './parse-token.ts';

/** The first key that fits decides for the token; `ok` or why none does. */
export function verifySignature(token: ParsedToken, keys: readonly VerificationKey[]): JwtStatus {
  const { alg, kid, signature } = token;
  const algorithm = algorithmOf(alg);
  if (algorithm === undefined) return 'unknownAlg';
  let status: JwtStatus = 'noMatchingKey';
  for (const key of keys) {
    if (!isMeant(key, kid, alg)) continue;
    status = 'wrongSignature';
    if (!isOfKind(key, algorithm)) continue;
    const length = algorithm.signatureBytes ?? signature.length;
    if (signature.length === length) {
      if (isSignedBy(token, key, algorithm)) return 'ok';
    } else if (key.kind === 'OKP') {
      status = 'signatureWrongLength';
    }
  }
  return status;
}

function isMeant(key: VerificationKey, kid: string, alg: string): boolean {
  if (kid !== '' && key.kid !== '' && key.kid !== kid) return false;
  return key.alg === '' || key.alg === alg;
}

/** A key of another kind never verifies, whatever the token calls its algorithm. */
function isOfKind(key: VerificationKey, { kind, curve = '' }: Algorithm): boolean {
  return key.kind === kind && key.curve === curve;
}

function isSignedBy(
  { signed, signature }: ParsedToken,
  { kind, key }: VerificationKey,
  { hash, isPss }: Algorithm,
): boolean {
  switch (kind) {
    case 'oct': {
      const expected = createHmac(hash ?? 'sha256', key)
        .update(signed)
        .digest();
      return expected.length === signature.length && timingSafeEqual(expected, signature);
    }
    case 'RSA': {
      if (isPss !== true) return verify(hash, signed, key, signature);
      const padding = constants.RSA_PKCS1_PSS_PADDING;
      const saltLength = constants.RSA_PSS_SALTLEN_DIGEST;
      return verify(hash, signed, { key, padding, saltLength }, signature);
    }
    case 'EC':
      return verify(hash, signed, { key, dsaEncoding: 'ieee-p1363' }, signature);
    case 'OKP':
      return verify(null, signed, key, signature);
  }
}
