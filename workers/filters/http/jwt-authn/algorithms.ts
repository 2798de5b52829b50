/** The algorithms of tokens' signatures (RFC 7518, RFC 8037) that Envoy takes. */
import type { KeyKind } from '../../../../shared/jwt/jwks.ts';

export interface Algorithm {
  readonly kind: KeyKind;
  readonly hash: 'sha256' | 'sha384' | 'sha512' | undefined;
  readonly isPss?: true;
  readonly curve?: string;
  readonly signatureBytes?: number;
}

const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map<string, Algorithm>([
  ['RS256', { kind: 'RSA', hash: 'sha256' }],
  ['RS384', { kind: 'RSA', hash: 'sha384' }],
  ['RS512', { kind: 'RSA', hash: 'sha512' }],
  ['PS256', { kind: 'RSA', hash: 'sha256', isPss: true }],
  ['PS384', { kind: 'RSA', hash: 'sha384', isPss: true }],
  ['PS512', { kind: 'RSA', hash: 'sha512', isPss: true }],
  ['ES256', { kind: 'EC', hash: 'sha256', curve: 'P-256', signatureBytes: 64 }],
  ['ES384', { kind: 'EC', hash: 'sha384', curve: 'P-384', signatureBytes: 96 }],
  ['ES512', { kind: 'EC', hash: 'sha512', curve: 'P-521', signatureBytes: 132 }],
  ['HS256', { kind: 'oct', hash: 'sha256' }],
  ['HS384', { kind: 'oct', hash: 'sha384' }],
  ['HS512', { kind: 'oct', hash: 'sha512' }],
  ['EdDSA', { kind: 'OKP', hash: undefined, signatureBytes: 64 }],
]);

export function algorithmOf(alg: string): Algorithm | undefined {
  return ALGORITHMS.get(alg);
}

export function isKnownAlgorithm(alg: string): boolean {
  return ALGORITHMS.has(alg);
}
