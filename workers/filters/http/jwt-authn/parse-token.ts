/** Takes a token apart (RFC 7519) and reads the claims that verification looks at. */
import type { JwtStatus } from '../../../../shared/jwt/jwt-status.ts';
import { decodeWebBase64 } from '../../../../shared/jwt/web-base64.ts';
import { readStruct } from '../../../../shared/text/read-struct.ts';
import type { Struct } from '../../../../shared/text/dictionary.ts';

import { isKnownAlgorithm } from './algorithms.ts';

export interface ParsedToken {
  readonly header: Struct;
  readonly payload: Struct;
  /** The payload as it stands in the token. */
  readonly payloadText: string;
  /** What was signed, as bytes. */
  readonly signed: Buffer;
  readonly signature: Buffer;
  readonly alg: string;
  /** Empty where the token does not say. */
  readonly kid: string;
  readonly issuer: string;
  readonly subject: string;
  readonly audiences: readonly string[];
  /** Seconds; 0 where the token does not say. */
  readonly notBefore: number;
  /** Seconds; 0 where the token does not say. */
  readonly expires: number;
}

/** `text` has one character per byte. */
export function parseToken(text: string): ParsedToken | JwtStatus {
  // Envoy skips empty parts.
  const parts = text.split('.').filter((part) => part !== '');
  const [headerText, payloadText, signatureText] = parts;
  if (headerText === undefined || payloadText === undefined || signatureText === undefined) {
    return 'badFormat';
  }
  if (parts.length > 3) return 'badFormat';
  const header = readObject(headerText, 'headerBadBase64', 'headerBadJson');
  if (typeof header === 'string') return header;
  const { alg, kid = '' } = header;
  if (typeof alg !== 'string') return 'badAlg';
  if (!isKnownAlgorithm(alg)) return 'unknownAlg';
  if (typeof kid !== 'string') return 'badKid';
  const payload = readObject(payloadText, 'payloadBadBase64', 'payloadBadJson');
  if (typeof payload === 'string') return payload;
  const claims = readClaims(payload);
  if (typeof claims === 'string') return claims;
  const signature = decodeWebBase64(signatureText);
  if (signature === undefined) return 'signatureBadBase64';
  const signed = Buffer.from(`${headerText}.${payloadText}`, 'latin1');
  return { header, payload, payloadText, signed, signature, alg, kid, ...claims };
}

function readObject(text: string, badBase64: JwtStatus, badJson: JwtStatus): Struct | JwtStatus {
  const bytes = decodeWebBase64(text);
  if (bytes === undefined) return badBase64;
  return readStruct(bytes) ?? badJson;
}

type Claims = Pick<ParsedToken, 'issuer' | 'subject' | 'audiences' | 'notBefore' | 'expires'>;

function readClaims(payload: Struct): Claims | JwtStatus {
  const { iss: issuer = '', sub: subject = '', jti = '' } = payload;
  if (typeof issuer !== 'string') return 'issNotString';
  if (typeof subject !== 'string') return 'subNotString';
  const issued = seconds(payload['iat'], 'iatNotInteger', 'iatOutOfRange');
  if (typeof issued === 'string') return issued;
  const notBefore = seconds(payload['nbf'], 'nbfNotInteger', 'nbfOutOfRange');
  if (typeof notBefore === 'string') return notBefore;
  const expires = seconds(payload['exp'], 'expNotInteger', 'expOutOfRange');
  if (typeof expires === 'string') return expires;
  if (typeof jti !== 'string') return 'jtiNotString';
  const audiences = readAudiences(payload['aud']);
  if (audiences === undefined) return 'audNotString';
  return { issuer, subject, audiences, notBefore, expires };
}

const SECONDS_END = 2 ** 64;

/** A fraction is cut off. */
function seconds(value: unknown, wrong: JwtStatus, outside: JwtStatus): number | JwtStatus {
  if (value === undefined) return 0;
  if (typeof value !== 'number') return wrong;
  if (value < 0 || value >= SECONDS_END) return outside;
  return Math.trunc(value);
}

function readAudiences(value: unknown): readonly string[] | undefined {
  if (value === undefined) return [];
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) return undefined;
  return value.every((each) => typeof each === 'string') ? value : undefined;
}
