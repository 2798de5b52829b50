/** Finds tokens in requests, and takes them out of there again. */
import type {
  JwtProvider,
  TokenPlace,
} from '../../../../shared/resources/filters/http/jwt-authn.ts';
import { findCookie } from '../../../stream/cookies.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { decodedQueryValue, withoutParameter } from '../../../../shared/text/query-parameters.ts';

/** A place with the issuers whose tokens may stand there; empty texts mean any. */
interface IssuedPlace {
  readonly place: TokenPlace;
  readonly issuers: Set<string>;
}

export interface FoundToken {
  /** One character per byte. */
  readonly text: string;
  readonly place: TokenPlace;
  isIssuerAllowed(issuer: string): boolean;
}

export class TokenPlaces {
  /** Cookies, then parameters, then headers, each from the last name to the first, as in Envoy. */
  readonly #places: readonly IssuedPlace[];
  /** Headers that are only ever made here: a client's own are dropped. */
  readonly #ownHeaders: readonly string[];

  constructor(providers: readonly JwtProvider[]) {
    const places = new Map<string, IssuedPlace>();
    for (const provider of providers) {
      for (const place of provider.places) {
        const key = keyOf(place);
        const known = places.get(key);
        if (known === undefined) places.set(key, { place, issuers: new Set([provider.issuer]) });
        else known.issuers.add(provider.issuer);
      }
    }
    const sorted = [...places.keys()].sort().reverse();
    this.#places = sorted.map((key) => places.get(key)).filter((place) => place !== undefined);
    this.#ownHeaders = providers.flatMap(({ payloadHeader, claimHeaders }) => [
      ...(payloadHeader === '' ? [] : [payloadHeader]),
      ...claimHeaders.map(({ header }) => header),
    ]);
  }

  sanitize(headers: HeaderMap): void {
    for (const name of this.#ownHeaders) headers.remove(name);
  }

  find(headers: HeaderMap): FoundToken[] {
    const found: FoundToken[] = [];
    for (const { place, issuers } of this.#places) {
      const text = tokenAt(headers, place);
      if (text === undefined) continue;
      const isIssuerAllowed = (issuer: string): boolean => issuers.has('') || issuers.has(issuer);
      found.push({ text, place, isIssuerAllowed });
    }
    return found;
  }
}

/** Kinds in Envoy's order. */
const RANKS = { header: '0', param: '1', cookie: '2' } as const;

function keyOf(place: TokenPlace): string {
  const prefix = place.kind === 'header' ? place.prefix : '';
  return `${RANKS[place.kind]}${place.name}${prefix}`;
}

function tokenAt(headers: HeaderMap, place: TokenPlace): string | undefined {
  switch (place.kind) {
    case 'header': {
      const value = headers.getAll(place.name, ',');
      if (value === undefined || place.prefix === '') return value;
      const at = value.indexOf(place.prefix);
      return at < 0 ? undefined : afterJunk(value.slice(at + place.prefix.length));
    }
    case 'param':
      return decodedQueryValue(headers.path, place.name);
    case 'cookie':
      return findCookie(headers, place.name);
  }
}

/** What stands between a prefix and the first sign that a token may have is skipped. */
function afterJunk(text: string): string {
  const start = text.search(/[\w.-]/);
  return start < 0 ? text : text.slice(start);
}

/** Cookies stay where they are, as in Envoy. */
export function removeToken(headers: HeaderMap, place: TokenPlace): void {
  if (place.kind === 'header') headers.remove(place.name);
  else if (place.kind === 'param') headers.path = withoutParameter(headers.path, place.name);
}
