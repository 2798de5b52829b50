/**
 * Lets users pass who have logged in at an authorization server, and sends the others there (RFC
 * 6749, RFC 7636). Cookies keep a login. Source: envoy.filters.http.oauth2.
 */
import type {
  OAuth2ChainOptions,
  OAuth2FilterSettings,
  OAuth2Options,
} from '../../../../shared/resources/filters/http/auth/oauth2.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  LocalReply,
  TrailersStatus,
} from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { WaitingRequest } from '../../common/waiting-request.ts';
import { CompiledSettings, type FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';
import { type Callback, isLoop, readCallback } from './callback.ts';
import { compileOAuth2, type Crypto, cryptoOf, type OAuth2Config } from './config.ts';
import { flowDeletions } from './cookie-texts.ts';
import { type AwayDetails, NOT_REFRESHED, notLoggedIn, refusal, unavailable } from './refusals.ts';
import { loginRedirect, redirect, signOut } from './send-to-login.ts';
import { Session } from './session.ts';
import type { Tokens } from '../../common/token-answer.ts';
import { askForTokens, type TokenCall, type TokenFailure, type TokenWaiter } from './token-call.ts';
import { open } from './token-crypto.ts';
import type { Grant } from './token-request.ts';
import { pathOf } from './urls.ts';

const STATUS_HEADER = 'x-envoy-oauth-status';
const REASON_HEADER = 'x-envoy-oauth-failure-reason';

export function makeOAuth2Filter(
  { name, options: { own } }: OAuth2FilterSettings,
  context: FilterContext,
): FilterFactory {
  const { statScope } = context;
  const ofChain = own && compileOAuth2(own, context, statScope);
  const ofRoutes = new CompiledSettings((each: OAuth2Options) =>
    // Envoy counts these apart from all connection managers.
    compileOAuth2(each, context, ''),
  );
  const configOf = (callbacks: FilterCallbacks): OAuth2Config | undefined => {
    const ofRoute = callbacks.routeConfig(name) as OAuth2ChainOptions | undefined;
    return ofRoute?.own === undefined ? ofChain : ofRoutes.of(ofRoute.own);
  };
  return { name, create: (callbacks) => new OAuth2Filter(configOf, callbacks) };
}

/** What is known of a request that the filter looks at. */
interface Visit {
  readonly config: OAuth2Config;
  readonly crypto: Crypto;
  readonly session: Session;
  readonly headers: HeaderMap;
}

type Phase = 'passing' | 'asking' | 'over';

class OAuth2Filter extends PassThroughFilter implements TokenWaiter {
  readonly #configOf: (callbacks: FilterCallbacks) => OAuth2Config | undefined;
  readonly #callbacks: FilterCallbacks;
  #phase: Phase = 'passing';
  #visit: Visit | undefined = undefined;
  #callback: Callback | undefined = undefined;
  #flowId = '';
  #waiting: WaitingRequest | undefined = undefined;
  #call: TokenCall | undefined = undefined;
  /** An answer comes while the token server is still being asked. */
  #isAsking = false;
  /** The cookies of refreshed tokens, for the response. */
  #newCookies: readonly string[] = [];

  constructor(
    configOf: (callbacks: FilterCallbacks) => OAuth2Config | undefined,
    callbacks: FilterCallbacks,
  ) {
    super();
    this.#configOf = configOf;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    // A client cannot say of itself that it is not logged in.
    headers.remove(STATUS_HEADER);
    headers.remove(REASON_HEADER);
    const config = this.#configOf(this.#callbacks);
    if (config === undefined) return 'continue';
    if (config.isPassed(headers)) {
      config.count('oauth_passthrough');
      return 'continue';
    }
    const crypto = cryptoOf(config);
    if (crypto === undefined) {
      return this.#answer(unavailable(config, 'OAuth2 secrets are not ready'));
    }
    const { idTokenHeader, preservesAuthorization } = config.options;
    const session = new Session(config, crypto, headers);
    if (!preservesAuthorization) headers.remove('authorization');
    if (idTokenHeader !== '') headers.remove(idTokenHeader);
    const visit = { config, crypto, session, headers };
    this.#visit = visit;
    return this.#decide(visit);
  }

  override decodeData(data: Buffer, endStream: boolean): DataStatus {
    if (this.#phase === 'over') return 'stop';
    if (this.#phase === 'passing') return 'continue';
    this.#waiting?.take(data, endStream);
    return 'taken';
  }

  override decodeTrailers(trailers: HeaderMap): TrailersStatus {
    if (this.#phase !== 'asking') return 'continue';
    this.#waiting?.takeTrailers(trailers);
    return 'taken';
  }

  override encodeHeaders(headers: HeaderMap): HeadersStatus {
    for (const cookie of this.#newCookies) headers.add('set-cookie', cookie);
    this.#newCookies = [];
    return 'continue';
  }

  override onDestroy(): void {
    this.#phase = 'over';
    this.#call?.cancel();
    this.#waiting?.drop();
  }

  onException(): void {
    this.#callbacks.onException();
  }

  onTokens(tokens: Tokens): void {
    const visit = this.#visit;
    if (this.#phase !== 'asking' || visit === undefined) return;
    const { config, session } = visit;
    const cookies = session.keep(tokens, this.#nowSeconds(config));
    if (cookies === undefined) {
      this.#answer(unavailable(config, 'OAuth token exceeds the cookie chunk limit'));
      return;
    }
    config.count('oauth_success');
    if (!tokens.isRefreshed) {
      const deletions = flowDeletions(config.options.cookies, this.#flowId);
      const location = this.#callback?.originalUrl ?? '';
      this.#answer(redirect(location, [...cookies, ...deletions], 'oauth.logged_in'));
      return;
    }
    config.count('oauth_refreshtoken_success');
    this.#newCookies = cookies;
    this.#forward(visit);
    this.#goOn();
  }

  onTokenFailure({ reason, more, isRefusal }: TokenFailure): void {
    const visit = this.#visit;
    if (this.#phase !== 'asking' || visit === undefined) return;
    if (this.#callback !== undefined || !isRefusal) {
      if (this.#allowsFailed(visit)) this.#passFailed(visit, reason);
      else this.#refuse(visit.config, reason + more);
      return;
    }
    visit.config.count('oauth_refreshtoken_failure');
    this.#sendAway(visit, NOT_REFRESHED);
  }

  #decide(visit: Visit): HeadersStatus {
    const { config, crypto, session, headers } = visit;
    const { path } = headers;
    if (config.isSignOut(path)) {
      return this.#answer(signOut(config, session, headers, this.#callbacks.info));
    }
    const isCallback = config.isCallback(path);
    const isLoggedIn = session.isLoggedIn(this.#nowSeconds(config));
    if (isLoggedIn) config.count('oauth_success');
    if (isCallback) {
      const callback = readCallback(config, crypto, session, path);
      this.#flowId = callback.flowId;
      if ('problem' in callback) return this.#refuse(config, callback.problem);
      return isLoggedIn ? this.#leaveCallback(visit, callback) : this.#exchange(visit, callback);
    }
    if (isLoggedIn) {
      this.#forward(visit);
      return 'continue';
    }
    const refreshToken = session.token('refresh');
    if (config.options.usesRefresh && refreshToken !== '') {
      return this.#ask(visit, { kind: 'refresh', token: refreshToken });
    }
    return this.#sendAway(visit, notLoggedIn(path));
  }

  /** Another request of this client has logged in meanwhile. */
  #leaveCallback({ config }: Visit, callback: Callback): HeadersStatus {
    if (isLoop(config, callback)) {
      const what = 'State url query params matches the redirect path matcher';
      return this.#refuse(config, `${what}: ${pathOf(callback.originalUrl)}`);
    }
    const deletions = flowDeletions(config.options.cookies, callback.flowId);
    return this.#answer(redirect(callback.originalUrl, deletions, 'oauth.race_redirect'));
  }

  #exchange(visit: Visit, callback: Callback): HeadersStatus {
    const { config, crypto, session } = visit;
    const { name } = config.options.cookies.verifier;
    const sealed = session.flowCookie(name, callback.flowId);
    if (sealed === '') {
      return this.#refuse(config, 'Code verifier cookie is missing in the request');
    }
    const opened = open(sealed, crypto.hmacSecret, crypto.allowsCbc);
    if ('error' in opened) {
      const problem = `Failed to decrypt code verifier: ${sealed}, error: ${opened.error}`;
      return this.#refuse(config, problem);
    }
    if (opened.isCbc) config.count('oauth_legacy_cbc_decrypt');
    this.#callback = callback;
    return this.#ask(visit, {
      kind: 'code',
      code: callback.code,
      redirectUri: config.redirectUri(this.#callbacks.info),
      verifier: opened.text,
    });
  }

  #ask({ config, crypto }: Visit, grant: Grant): HeadersStatus {
    const { loop, bufferLimitBytes } = config.context;
    this.#waiting = new WaitingRequest(this.#callbacks, loop.held, bufferLimitBytes);
    this.#phase = 'asking';
    this.#isAsking = true;
    this.#call = askForTokens(config, crypto, grant, this);
    this.#isAsking = false;
    return this.#isPassing() ? 'continue' : 'stop';
  }

  /** Apart from where it is set, since an answer may come while the question is being sent. */
  #isPassing(): boolean {
    return this.#phase === 'passing';
  }

  /** Upstream gets the request of a user who is logged in. */
  #forward({ config, session, headers }: Visit): void {
    const { forwardsBearer, idTokenHeader } = config.options;
    const access = session.token('bearer');
    const id = session.token('id');
    if (forwardsBearer && access !== '') headers.set('authorization', `Bearer ${access}`);
    if (idTokenHeader !== '' && id !== '') headers.set(idTokenHeader, id);
    session.hideOwnCookies();
  }

  #sendAway(visit: Visit, details: AwayDetails): HeadersStatus {
    const { config, crypto, headers } = visit;
    if (this.#allowsFailed(visit)) return this.#passFailed(visit, details.allowed);
    if (config.deniesRedirect(headers)) return this.#refuse(config, details.denied);
    const reply = loginRedirect(config, crypto, headers, this.#callbacks.info);
    if (typeof reply === 'string') return this.#refuse(config, reply);
    config.count('oauth_unauthorized_rq');
    return this.#answer(reply);
  }

  /** The callback is the proxy's own: it never goes upstream. */
  #allowsFailed({ config, headers }: Visit): boolean {
    return !config.isCallback(headers.path) && config.allowsFailed(headers);
  }

  #passFailed({ config, session, headers }: Visit, reason: string): HeadersStatus {
    session.hideAllCookies();
    headers.set(STATUS_HEADER, 'failed');
    headers.set(REASON_HEADER, reason);
    config.count('oauth_allow_failed_passthrough');
    this.#goOn();
    return 'continue';
  }

  #goOn(): void {
    const hasWaited = this.#phase === 'asking' && !this.#isAsking;
    this.#phase = 'passing';
    if (hasWaited) this.#waiting?.release();
  }

  #refuse(config: OAuth2Config, details: string): HeadersStatus {
    return this.#answer(refusal(config, details, this.#flowId));
  }

  #answer(reply: LocalReply): HeadersStatus {
    this.#phase = 'over';
    this.#waiting?.drop();
    this.#callbacks.sendLocalReply(reply);
    return 'stop';
  }

  #nowSeconds({ context }: OAuth2Config): number {
    return context.loop.clock.wallMs / 1000;
  }
}
