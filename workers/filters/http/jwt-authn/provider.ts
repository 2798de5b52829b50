/** One provider of tokens: what it asks of a token, its keys, and what it has verified before. */
import type { JwtStatus } from '../../../../shared/jwt/jwt-status.ts';
import { compileStringMatcher } from '../../../../shared/matchers/string-matcher.ts';
import type {
  JwtProvider,
  JWT_AUTHN,
} from '../../../../shared/resources/filters/http/jwt-authn.ts';
import type { FilterContext } from '../../filter-context.ts';
import type { ParsedToken } from './parse-token.ts';
import { ProviderKeys } from './provider-keys.ts';
import { RememberedTokens } from './remembered-tokens.ts';
import { TokenCache } from './token-cache.ts';

/** What a token that was asked to be kept is allowed to be late. */
const KEPT_SKEW_SECONDS = 60;

export type CountJwt = (name: keyof typeof JWT_AUTHN.index) => void;

export class Provider {
  readonly settings: JwtProvider;
  readonly keys: ProviderKeys;
  readonly #audiences: ReadonlySet<string>;
  readonly #isSubject: (subject: string) => boolean;
  readonly #count: CountJwt;
  /** The configured one; its hits and misses are counted. */
  readonly #kept: TokenCache | undefined;
  /** What saves work and is not seen. */
  readonly #remembered = new RememberedTokens();

  constructor(settings: JwtProvider, context: FilterContext, count: CountJwt) {
    const { audiences, subjects, cache } = settings;
    this.settings = settings;
    this.#audiences = comparableAudiences(audiences);
    this.#isSubject = subjects === undefined ? () => true : compileStringMatcher(subjects);
    this.#count = count;
    this.#kept = cache && new TokenCache(cache.tokens, cache.tokenBytesMax);
    this.keys = new ProviderKeys(settings.jwks, context, {
      fetched: (isGood) => count(isGood ? 'jwks_fetch_success' : 'jwks_fetch_failed'),
      changed: () => this.#forget(),
    });
  }

  /** A token that the configured cache has. */
  kept(text: string, nowSeconds: number): ParsedToken | undefined {
    const token = this.#kept?.get(text);
    if (token === undefined) return undefined;
    if (checkTimes(token, nowSeconds, KEPT_SKEW_SECONDS) !== 'expired') return token;
    this.#kept?.remove(text);
    return undefined;
  }

  countLookup(isHit: boolean): void {
    this.#count(isHit ? 'jwt_cache_hit' : 'jwt_cache_miss');
  }

  /** A token whose signature the present keys have verified. */
  verifiedBefore(text: string): ParsedToken | undefined {
    return this.keys.present === undefined ? undefined : this.#remembered.get(text);
  }

  keep(text: string, token: ParsedToken): void {
    this.#kept?.put(text, token);
    if (this.keys.present !== undefined) this.#remembered.put(text, token);
  }

  /** Everything but the signature, in Envoy's order; `audiences` in place of the provider's. */
  check(
    token: ParsedToken,
    nowSeconds: number,
    audiences: ReadonlySet<string> = this.#audiences,
  ): JwtStatus {
    const { clockSkewSeconds } = this.settings;
    const times = checkTimes(token, Math.floor(nowSeconds), clockSkewSeconds);
    if (times !== 'ok') return times;
    if (!this.#isLifetimeAllowed(token, nowSeconds)) return 'wrongSignature';
    if (!this.#isSubject(token.subject)) return 'wrongSignature';
    if (audiences.size === 0) return 'ok';
    const isForUs = token.audiences.some((each) => audiences.has(comparableAudience(each)));
    return isForUs ? 'ok' : 'wrongAudience';
  }

  close(): void {
    this.keys.close();
  }

  #isLifetimeAllowed({ expires }: ParsedToken, nowSeconds: number): boolean {
    const { maxLifetimeSeconds, requiresExpiration } = this.settings;
    if (expires === 0) return !requiresExpiration && maxLifetimeSeconds === undefined;
    return maxLifetimeSeconds === undefined || expires - nowSeconds <= maxLifetimeSeconds;
  }

  #forget(): void {
    this.#kept?.clear();
    this.#remembered.clear();
  }
}

function checkTimes(
  { notBefore, expires }: ParsedToken,
  nowSeconds: number,
  skewSeconds: number,
): JwtStatus {
  if (nowSeconds + skewSeconds < notBefore) return 'notYetValid';
  return expires !== 0 && nowSeconds > expires + skewSeconds ? 'expired' : 'ok';
}

export function comparableAudiences(audiences: readonly string[]): ReadonlySet<string> {
  return new Set(audiences.map(comparableAudience));
}

/** Neither the scheme nor a slash at the end makes a difference. */
function comparableAudience(audience: string): string {
  const bare = audience.replace(/^https?:\/\//, '');
  return bare.endsWith('/') ? bare.slice(0, -1) : bare;
}
