/**
 * Verifies all the tokens that a request has for one requirement, one after the other. All of them
 * have to be good, or else a request with a good token could bring a false one along.
 */
import { JWT_STATUS, type JwtStatus } from '../../../../shared/jwt/jwt-status.ts';
import { dictionary, type Struct } from '../../../../shared/text/dictionary.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { type ParsedToken, parseToken } from './parse-token.ts';
import type { Provider } from './provider.ts';
import type { Keys, KeysWaiter } from './provider-keys.ts';
import { addTokenHeaders, tokenMetadata } from './token-effects.ts';
import { type FoundToken, removeToken } from './token-places.ts';
import { verifySignature } from './verify-signature.ts';

/** The request that the tokens came with. */
export interface TokenRequest {
  readonly headers: HeaderMap;
  /** Unix seconds with a fraction. */
  readonly nowSeconds: number;
  addMetadata(values: Struct): void;
  clearRoute(): void;
  onException(): void;
}

export interface AuthenticatorRules {
  /** Undefined: the token's issuer decides. */
  readonly provider: Provider | undefined;
  readonly audiences: ReadonlySet<string> | undefined;
  readonly byIssuer: (issuer: string) => Provider | undefined;
  readonly allowsFailed: boolean;
  readonly allowsMissing: boolean;
  /** Says upstream that a token failed; absent: nothing does. */
  readonly failureHeader?: string;
}

export class Authenticator implements KeysWaiter {
  readonly #rules: AuthenticatorRules;
  readonly #request: TokenRequest;
  readonly #tokens: FoundToken[];
  readonly #done: (status: JwtStatus) => void;
  #next = 0;
  #isOver = false;
  /** The token that keys are awaited for. */
  #waiting: { readonly token: ParsedToken; readonly found: FoundToken } | undefined = undefined;
  /** The provider of the present token. */
  #provider: Provider | undefined = undefined;

  constructor(
    rules: AuthenticatorRules,
    request: TokenRequest,
    tokens: FoundToken[],
    done: (status: JwtStatus) => void,
  ) {
    this.#rules = rules;
    this.#request = request;
    this.#tokens = tokens;
    this.#done = done;
  }

  start(): void {
    if (this.#tokens.length === 0) this.#finish('missing');
    else this.#verifyNext();
  }

  cancel(): void {
    this.#isOver = true;
    if (this.#waiting !== undefined) this.#provider?.keys.leave(this);
    this.#waiting = undefined;
  }

  onKeys(keys: Keys | undefined): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined || this.#isOver) return;
    if (keys === undefined) return this.#settle('fetchFailed');
    this.#judge(waiting.token, waiting.found, keys);
  }

  onException(): void {
    this.#request.onException();
  }

  #verifyNext(): void {
    const found = this.#tokens[this.#next++];
    if (found === undefined) return;
    const { provider } = this.#rules;
    const { nowSeconds } = this.#request;
    this.#provider = provider;
    const kept = provider?.kept(found.text, nowSeconds);
    provider?.countLookup(kept !== undefined);
    const before = kept ?? provider?.verifiedBefore(found.text);
    const token = before ?? parseToken(found.text);
    if (typeof token === 'string') return this.#settle(token);
    if (!found.isIssuerAllowed(token.issuer)) return this.#settle('unknownIssuer');
    const of = provider ?? this.#rules.byIssuer(token.issuer);
    this.#provider = of;
    if (of === undefined) return this.#settle('unknownIssuer');
    const status = of.check(token, nowSeconds, this.#rules.audiences);
    if (status !== 'ok') return this.#settle(status);
    if (before !== undefined) return this.#accept(token, found);
    const keys = of.keys.present;
    if (keys !== undefined) return this.#judge(token, found, keys);
    this.#waiting = { token, found };
    of.keys.want(this);
  }

  #judge(token: ParsedToken, found: FoundToken, keys: Keys): void {
    const status = keys.length === 0 ? 'noValidKeys' : verifySignature(token, keys);
    if (status !== 'ok') return this.#settle(status);
    if (this.#rules.provider !== undefined) this.#provider?.keep(found.text, token);
    this.#accept(token, found);
  }

  #accept(token: ParsedToken, { place }: FoundToken): void {
    const provider = this.#provider;
    if (provider === undefined) return;
    const { settings } = provider;
    const request = this.#request;
    const added = addTokenHeaders(request.headers, token, settings);
    if (!settings.forward) removeToken(request.headers, place);
    const metadata = tokenMetadata(token, settings);
    if (metadata !== undefined) request.addMetadata(metadata);
    if (settings.clearsRoute && (added || settings.payloadInMetadata !== '')) request.clearRoute();
    this.#settle('ok');
  }

  /** Settles one token. */
  #settle(status: JwtStatus): void {
    if (status !== 'ok') this.#noteFailure(status);
    const isFailed = status !== 'ok' && !this.#rules.allowsFailed;
    if (isFailed || this.#next >= this.#tokens.length) return this.#finish(status);
    this.#verifyNext();
  }

  #noteFailure(status: JwtStatus): void {
    const { failureHeader } = this.#rules;
    if (failureHeader !== undefined) this.#request.headers.set(failureHeader, 'false');
    const key = this.#provider?.settings.failureInMetadata ?? '';
    if (key === '') return;
    const [code, message] = JWT_STATUS[status];
    const failure = dictionary<unknown>(Object.entries({ code, message }));
    this.#request.addMetadata(dictionary([[key, failure]]));
  }

  #finish(status: JwtStatus): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { allowsFailed, allowsMissing } = this.#rules;
    const isAllowed = allowsFailed || (allowsMissing && status === 'missing');
    this.#done(isAllowed ? 'ok' : status);
  }
}
