/** Settings and stats of envoy.filters.http.jwt_authn. */
import { defineTemplate } from '../../../stats/template.ts';
import { counter } from '../../../stats/templates/spec.ts';
import type { StringMatcher } from '../../routes/matchers.ts';
import type { HttpTarget } from '../../http-target.ts';
import type { RouteMatch } from '../../routes/route.ts';
import { declareKind, type FilterResource } from '../declare-filter.ts';

export type JwksSource =
  /** Checked to have a usable key. */
  | { readonly kind: 'local'; readonly jwks: Uint8Array }
  | {
      readonly kind: 'remote';
      readonly target: HttpTarget;
      /** 0: what was fetched is used once. */
      readonly cacheMs: number;
      /** Absent: keys are fetched when a token wants them. */
      readonly asyncFetch?: { readonly isFast: boolean; readonly failedRefetchMs: number };
    };

/** Where a token may stand; header names are in lower case. */
export type TokenPlace =
  | { readonly kind: 'header'; readonly name: string; readonly prefix: string }
  | { readonly kind: 'param'; readonly name: string }
  | { readonly kind: 'cookie'; readonly name: string };

export interface ClaimHeader {
  readonly header: string;
  /** From the payload inwards. */
  readonly path: readonly string[];
}

export interface JwtProvider {
  readonly name: string;
  /** Empty: any issuer. */
  readonly issuer: string;
  /** Empty: any audience. */
  readonly audiences: readonly string[];
  readonly subjects?: StringMatcher;
  readonly requiresExpiration: boolean;
  readonly maxLifetimeSeconds?: number;
  readonly jwks: JwksSource;
  readonly forward: boolean;
  readonly places: readonly TokenPlace[];
  /** Empty for none, in lower case. */
  readonly payloadHeader: string;
  readonly padsPayload: boolean;
  /** Keys of metadata, empty for none. */
  readonly payloadInMetadata: string;
  readonly headerInMetadata: string;
  readonly failureInMetadata: string;
  readonly spaceDelimitedClaims: readonly string[];
  readonly clockSkewSeconds: number;
  readonly cache?: { readonly tokens: number; readonly tokenBytesMax: number };
  readonly claimHeaders: readonly ClaimHeader[];
  readonly clearsRoute: boolean;
}

export type JwtRequirement =
  | { readonly kind: 'provider'; readonly provider: string; readonly audiences?: readonly string[] }
  | { readonly kind: 'any' | 'all'; readonly requirements: readonly JwtRequirement[] }
  | { readonly kind: 'allow_missing' }
  | { readonly kind: 'allow_missing_or_failed' }
  /** As the one before it; the header, in lower case, tells when a token failed. */
  | { readonly kind: 'extract_only'; readonly failureHeader: string }
  | { readonly kind: 'none' };

export interface JwtAuthnOptions {
  /** Empty, or with a dot at its end. */
  readonly statPrefix: string;
  readonly providers: readonly JwtProvider[];
  readonly rules: readonly { readonly match: RouteMatch; readonly requires: JwtRequirement }[];
  readonly filterState?: {
    readonly name: string;
    readonly requires: ReadonlyMap<string, JwtRequirement>;
  };
  /** What routes name. */
  readonly requirements: ReadonlyMap<string, JwtRequirement>;
  readonly bypassesPreflight: boolean;
  readonly stripsFailure: boolean;
}

export interface JwtAuthnPerRoute {
  /** Undefined: nothing is asked for. */
  readonly requirement: string | undefined;
}

/** Prefix: `http.<stat_prefix>.jwt_authn.` and the filter's own. */
export const JWT_AUTHN = defineTemplate('jwt_authn', {
  allowed: counter('Requests that were let through'),
  cors_preflight_bypassed: counter('Preflight requests that were let through unseen'),
  denied: counter('Requests refused for their tokens'),
  jwks_fetch_failed: counter('Fetches of keys that failed'),
  jwks_fetch_success: counter('Fetches that brought keys'),
  jwt_cache_hit: counter('Tokens that were verified before'),
  jwt_cache_miss: counter('Tokens that were not'),
});

export type JwtAuthnFilterSettings = FilterResource<'jwt_authn', JwtAuthnOptions>;

export const JWT_AUTHN_DECLARATION = declareKind<JwtAuthnFilterSettings>(JWT_AUTHN);
