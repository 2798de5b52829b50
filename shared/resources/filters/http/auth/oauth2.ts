/** Settings and stats of envoy.filters.http.oauth2. Texts have one character per byte. */
import { defineTemplate } from '../../../../stats/template.ts';
import { counter } from '../../../../stats/templates/spec.ts';
import type { GenericSecret } from '../../../generic-secret.ts';
import type { HttpTarget } from '../../../http-target.ts';
import type { HeaderMatcher, StringMatcher } from '../../../routes/matchers.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';

type AssertionAlgorithm = 'RS256' | 'RS384' | 'RS512' | 'ES256' | 'ES384' | 'ES512';

/** How the filter proves to the token server that it is the client. */
export type ClientAuth =
  | { readonly kind: 'body' | 'basic'; readonly secret: GenericSecret }
  | { readonly kind: 'tls' }
  | {
      readonly kind: 'assertion';
      /** A private key in PEM. */
      readonly secret: GenericSecret;
      readonly algorithm: AssertionAlgorithm;
      readonly lifetimeSeconds: number;
      readonly audience: string;
    };

export interface CookieOptions {
  readonly name: string;
  readonly path: string;
  /** Behind the other attributes: `;SameSite=Lax;Partitioned`. */
  readonly attributes: string;
}

export interface OAuth2Cookies {
  readonly bearer: CookieOptions;
  readonly hmac: CookieOptions;
  readonly expires: CookieOptions;
  readonly id: CookieOptions;
  readonly refresh: CookieOptions;
  readonly nonce: CookieOptions;
  readonly verifier: CookieOptions;
  /** Empty: the host of each request. */
  readonly domain: string;
  /** Absent: a token is one cookie, however long it is. */
  readonly chunks?: { readonly bytesMax: number; readonly countMax: number };
}

/** Tokens that are kept in cookies. */
interface KeptTokens {
  readonly access: boolean;
  readonly id: boolean;
  readonly refresh: boolean;
}

/** Where the user comes from and goes to; those with commands are substitution formats. */
export interface OAuth2Addresses {
  /** Scheme, host and path of the authorization endpoint. */
  readonly authorization: string;
  /** Its query with what is always added, and the resources behind it. */
  readonly authorizationQuery: string;
  readonly resources: string;
  readonly redirectFormat: string;
  /** Empty: scheme and host of the request. */
  readonly originalFormat: string;
  /** Empty: users are logged out here only. */
  readonly endSession: string;
  /** Absent: the provider is not told where to. Empty: to the host's first page. */
  readonly postLogoutFormat?: string;
  /** Empty: all. */
  readonly allowedDomains: readonly string[];
}

export interface OAuth2Options {
  readonly statPrefix: string;
  readonly clientId: string;
  readonly auth: ClientAuth;
  readonly hmacSecret: GenericSecret;
  readonly tokenEndpoint: HttpTarget;
  readonly addresses: OAuth2Addresses;
  readonly cookies: OAuth2Cookies;
  readonly keeps: KeptTokens;
  readonly callbackPath: StringMatcher;
  readonly signOutPath: StringMatcher;
  readonly passThrough: readonly HeaderMatcher[];
  readonly denyRedirect: readonly HeaderMatcher[];
  readonly allowFailed: readonly HeaderMatcher[];
  readonly forwardsBearer: boolean;
  /** Empty: the identity token goes in no header. */
  readonly idTokenHeader: string;
  readonly preservesAuthorization: boolean;
  readonly usesRefresh: boolean;
  readonly encryptsTokens: boolean;
  readonly idTokenEndsWithAccess: boolean;
  /** Where the token server does not say; 0: it has to. */
  readonly defaultExpirySeconds: number;
  readonly refreshExpirySeconds: number;
  readonly nonceExpirySeconds: number;
  readonly verifierExpirySeconds: number;
}

/** The chain's options: without settings it does what routes say. */
export interface OAuth2ChainOptions {
  readonly own?: OAuth2Options;
}

/** Prefix: `http.<stat_prefix>.` and the filter's own. */
export const OAUTH2 = defineTemplate('oauth2', {
  oauth_allow_failed_passthrough: counter('Requests that passed although they are not logged in'),
  oauth_failure: counter('Requests that were refused'),
  oauth_legacy_cbc_decrypt: counter('Cookies that were encrypted by AES-256-CBC'),
  oauth_passthrough: counter('Requests that the filter does not look at'),
  oauth_refreshtoken_failure: counter('Tokens that could not be refreshed'),
  oauth_refreshtoken_success: counter('Tokens that were refreshed'),
  oauth_success: counter('Requests that are logged in, and logins'),
  oauth_token_cookie_chunked: counter('Tokens that were cut into several cookies'),
  oauth_token_cookie_malformed_chunks: counter('Cut tokens whose cookies do not fit together'),
  oauth_token_cookie_oversized: counter('Tokens that need too many cookies'),
  oauth_token_cookie_reassembled: counter('Tokens that were put together from cookies'),
  oauth_unauthorized_rq: counter('Requests that were sent to log in'),
});

export type OAuth2FilterSettings = FilterResource<'oauth2', OAuth2ChainOptions>;

export const OAUTH2_DECLARATION = declareKind<OAuth2FilterSettings>(OAUTH2);
