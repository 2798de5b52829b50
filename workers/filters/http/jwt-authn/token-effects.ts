/** What a verified token changes: headers of the request, dynamic metadata, the route. */
import type { JwtProvider } from '../../../../shared/resources/filters/http/jwt-authn.ts';
import { dictionary, memberOf, type Struct } from '../../../../shared/text/dictionary.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import type { ParsedToken } from './parse-token.ts';

/** Adds the headers that the provider makes of tokens; true when a claim became one. */
export function addTokenHeaders(
  headers: HeaderMap,
  { payloadText, payload }: ParsedToken,
  { payloadHeader, padsPayload, claimHeaders }: JwtProvider,
): boolean {
  if (payloadHeader !== '') {
    headers.add(payloadHeader, padsPayload ? padded(payloadText) : payloadText);
  }
  let added = false;
  for (const { header, path } of claimHeaders) {
    const text = claimText(claimAt(payload, path));
    if (text === undefined || text === '') continue;
    headers.add(header, text);
    added = true;
  }
  return added;
}

/** What the provider writes of a token, by the keys of metadata; undefined for nothing. */
export function tokenMetadata(
  { header, payload }: ParsedToken,
  { headerInMetadata, payloadInMetadata, spaceDelimitedClaims }: JwtProvider,
): Struct | undefined {
  if (headerInMetadata === '' && payloadInMetadata === '') return undefined;
  const made = dictionary<unknown>();
  if (headerInMetadata !== '') made[headerInMetadata] = header;
  if (payloadInMetadata !== '') made[payloadInMetadata] = normalised(payload, spaceDelimitedClaims);
  return made;
}

/** Named claims become lists of their words. */
function normalised(payload: Struct, claims: readonly string[]): Struct {
  if (claims.length === 0) return payload;
  const made = dictionary<unknown>(Object.entries(payload));
  for (const claim of claims) {
    const value = made[claim];
    if (typeof value !== 'string') continue;
    made[claim] = value.split(' ').filter((word) => word !== '');
  }
  return made;
}

function padded(text: string): string {
  return text + '='.repeat((4 - (text.length % 4)) % 4);
}

function claimAt(payload: Struct, path: readonly string[]): unknown {
  let value: unknown = payload;
  for (const key of path) value = memberOf(value, key);
  return value;
}

/** Undefined for what no header can say. Headers have one character per byte. */
function claimText(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return Buffer.from(value).toString('latin1');
    case 'number':
      return numberText(value);
    case 'boolean':
      return String(value);
    case 'object':
      return value === null ? undefined : Buffer.from(JSON.stringify(value)).toString('base64');
    default:
      return undefined;
  }
}

/** Numbers that are no counts have six digits behind the point, as in Envoy. */
const FRACTION = '000000';
const FRACTION_DIGITS = 6;
const COUNT_END = 2 ** 64;

function numberText(value: number): string {
  if (!Number.isInteger(value)) return value.toFixed(FRACTION_DIGITS);
  const whole = BigInt(value).toString();
  return value >= 0 && value < COUNT_END ? whole : `${whole}.${FRACTION}`;
}
