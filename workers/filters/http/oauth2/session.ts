/** What the cookies of a request say of its login, and the cookies that keep one. */
import type {
  CookieOptions,
  OAuth2Options,
} from '../../../../shared/resources/filters/http/auth/oauth2.ts';
import { readCookies, writeCookies } from '../../../stream/cookies.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { parseToken } from '../jwt-authn/parse-token.ts';
import { type Found, takeToken, tokenCookies, tokenDeletions } from './chunks.ts';
import { type Crypto, type OAuth2Config } from './config.ts';
import { cookieTail, isFlowCookie } from './cookie-texts.ts';
import { areTokensSigned, open, seal, signTokens } from './token-crypto.ts';
import type { Tokens } from '../../common/token-answer.ts';

const WHOLE_NUMBER = /^\d{1,15}$/;
// oxlint-disable-next-line no-control-regex -- Control characters are what is looked for.
const NOT_IN_HEADERS = /[\0\r\n]/;

type TokenKind = 'bearer' | 'id' | 'refresh';
const KINDS: readonly TokenKind[] = ['bearer', 'id', 'refresh'];

export class Session {
  readonly #config: OAuth2Config;
  readonly #crypto: Crypto;
  readonly #headers: HeaderMap;
  readonly #host: string;
  readonly #found = new Map<TokenKind, Found>();
  /** The cookies of the request, with tokens in clear. */
  readonly #cookies: Map<string, string>;

  /** Tokens in the request's cookies are put together and decrypted. */
  constructor(config: OAuth2Config, crypto: Crypto, headers: HeaderMap) {
    this.#config = config;
    this.#crypto = crypto;
    this.#headers = headers;
    this.#host = headers.authority;
    this.#cookies = readCookies(headers);
    if (this.#cookies.size > 0) this.#readTokens();
  }

  /** In clear; empty when there is none. */
  token(kind: TokenKind): string {
    return this.#value(this.#config.options.cookies[kind]);
  }

  get names(): readonly string[] {
    return [...this.#cookies.keys()];
  }

  found(kind: TokenKind): Found {
    return this.#found.get(kind) ?? { value: '', isWhole: false, chunks: 0, state: 'none' };
  }

  /** The name of the cookie of one login, or as older versions called it. */
  flowCookie(base: string, flowId: string): string {
    const own = this.#cookies.get(`${base}.${flowId}`) ?? '';
    return own === '' ? (this.#cookies.get(base) ?? '') : own;
  }

  isLoggedIn(nowSeconds: number): boolean {
    const { cookies } = this.#config.options;
    const expires = this.#value(cookies.expires);
    const values = {
      domain: this.#domain,
      expires,
      access: this.token('bearer'),
      id: this.token('id'),
      refresh: this.token('refresh'),
    };
    const isSigned = areTokensSigned(values, this.#value(cookies.hmac), this.#crypto.hmacSecret);
    return isSigned && WHOLE_NUMBER.test(expires) && Number(expires) > nowSeconds;
  }

  /** What only this filter needs does not go upstream. */
  hideOwnCookies(): void {
    const { hmac, expires, refresh, nonce, verifier } = this.#config.options.cookies;
    this.#drop([hmac.name, expires.name, refresh.name], [nonce.name, verifier.name]);
  }

  /** Nor do tokens of somebody who is not logged in. */
  hideAllCookies(): void {
    const { hmac, expires, refresh, bearer, id, nonce, verifier } = this.#config.options.cookies;
    const names = [hmac, expires, refresh, bearer, id].map((cookie) => cookie.name);
    this.#drop(names, [nonce.name, verifier.name]);
  }

  /**
   * The cookies that keep these tokens; undefined when one does not fit. The request has them as
   * well, for the upstream.
   */
  keep(tokens: Tokens, nowSeconds: number): readonly string[] | undefined {
    const { options } = this.#config;
    const { cookies, keeps } = options;
    const access = keeps.access ? tokens.access : '';
    const id = keeps.id ? tokens.id : '';
    const refresh = this.#refreshToKeep(tokens);
    const expires = String(Math.floor(nowSeconds + tokens.expiresSeconds));
    const values = { domain: this.#domain, expires, access, id, refresh };
    const signature = signTokens(values, this.#crypto.hmacSecret);
    const seconds = tokens.expiresSeconds;
    const texts = [
      `${cookies.hmac.name}=${signature}${cookieTail(cookies, cookies.hmac, seconds)}`,
      `${cookies.expires.name}=${expires}${cookieTail(cookies, cookies.expires, seconds)}`,
    ];
    const kept: readonly (readonly [TokenKind, string, number])[] = [
      ['bearer', access, seconds],
      ['id', id, idSeconds(options, id, seconds, nowSeconds)],
      ['refresh', refresh, refreshSeconds(options, tokens, nowSeconds)],
    ];
    for (const [kind, value, lifetime] of kept) {
      const made = this.#cookiesOf(kind, value, lifetime);
      if (made === undefined) return undefined;
      texts.push(...made);
      if (value !== '') this.#cookies.set(cookies[kind].name, value);
    }
    return texts;
  }

  /** A server that gives no new one lets the old one be used again. */
  #refreshToKeep({ refresh, isRefreshed }: Tokens): string {
    const given = this.#config.options.keeps.refresh ? refresh : '';
    return given === '' && isRefreshed ? this.token('refresh') : given;
  }

  #cookiesOf(kind: TokenKind, value: string, seconds: number): readonly string[] | undefined {
    const { options, count } = this.#config;
    const { cookies, encryptsTokens } = options;
    const { hmacSecret, usesGcm } = this.#crypto;
    const found = this.found(kind);
    if (value === '') return tokenDeletions(cookies, cookies[kind], found);
    const stored = encryptsTokens ? seal(value, hmacSecret, usesGcm) : value;
    const made = tokenCookies(cookies, cookies[kind], { value: stored, seconds }, found);
    if (made === undefined) count('oauth_token_cookie_oversized');
    else if (made.isCut) count('oauth_token_cookie_chunked');
    return made?.texts;
  }

  get #domain(): string {
    const { domain } = this.#config.options.cookies;
    return domain === '' ? this.#host : domain;
  }

  #value(cookie: CookieOptions): string {
    return this.#cookies.get(cookie.name) ?? '';
  }

  #readTokens(): void {
    const { cookies } = this.#config.options;
    let isChanged = false;
    for (const kind of KINDS) {
      const { name } = cookies[kind];
      const found = takeToken(this.#cookies, name);
      this.#found.set(kind, found);
      if (found.state === 'reassembled') this.#config.count('oauth_token_cookie_reassembled');
      if (found.state === 'malformed') this.#config.count('oauth_token_cookie_malformed_chunks');
      if (found.value !== '') this.#cookies.set(name, this.#decrypt(found.value));
      else this.#cookies.delete(name);
      isChanged ||= found.value !== '' || found.chunks > 0;
    }
    if (isChanged) writeCookies(this.#headers, this.#cookies);
  }

  /** What was never encrypted, or with another secret, stays as it is: its signature is checked. */
  #decrypt(value: string): string {
    if (!this.#config.options.encryptsTokens) return value;
    const opened = open(value, this.#crypto.hmacSecret, this.#crypto.allowsCbc);
    if ('error' in opened || NOT_IN_HEADERS.test(opened.text)) return value;
    if (opened.isCbc) this.#config.count('oauth_legacy_cbc_decrypt');
    return opened.text;
  }

  #drop(names: readonly string[], flows: readonly string[]): void {
    if (this.#cookies.size === 0) return;
    for (const name of this.#cookies.keys()) {
      const isFlow = flows.some((base) => isFlowCookie(name, base));
      if (isFlow || names.includes(name)) this.#cookies.delete(name);
    }
    writeCookies(this.#headers, this.#cookies);
  }
}

function idSeconds(
  { idTokenEndsWithAccess }: OAuth2Options,
  token: string,
  otherwise: number,
  nowSeconds: number,
): number {
  if (idTokenEndsWithAccess || token === '') return otherwise;
  return secondsLeft(token, nowSeconds) ?? otherwise;
}

function refreshSeconds(
  { usesRefresh, refreshExpirySeconds }: OAuth2Options,
  { refresh, expiresSeconds }: Tokens,
  nowSeconds: number,
): number {
  if (!usesRefresh) return expiresSeconds;
  return secondsLeft(refresh, nowSeconds) ?? refreshExpirySeconds;
}

/** Until the end that a JWT states; undefined where it states none. */
function secondsLeft(token: string, nowSeconds: number): number | undefined {
  const parsed = parseToken(token);
  if (typeof parsed === 'string' || parsed.expires === 0) return undefined;
  return Math.max(0, parsed.expires - Math.floor(nowSeconds));
}
