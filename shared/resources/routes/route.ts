/**
 * A route configuration as workers receive it: plain data, names resolved, times in milliseconds.
 * Texts that meet the wire (domains, paths, header values, formats) are byte strings: one character
 * per byte of their UTF-8, as from a socket. Order is as configured. Source: envoy.config.route.v3.
 */
import type { Dictionary, Struct } from '../../text/dictionary.ts';
import type { HeaderChanges } from './headers.ts';
import type { HeaderMutationRule } from '../filters/http/header-mutation.ts';
import type { LuaScript } from '../filters/http/lua/lua.ts';
import type { CorsPolicy } from '../filters/http/cors.ts';
import type { RateLimitPolicy } from './rate-limits.ts';
import type { TracedRoute } from '../tracing/tracing.ts';
import type { MatcherTree } from './matcher-tree.ts';
import type {
  CompiledRegex,
  CookieMatcher,
  FilterStateMatcher,
  HeaderMatcher,
  MetadataMatcher,
  QueryParameterMatcher,
  RuntimeFraction,
} from './matchers.ts';
import type { RetryPolicy, HedgePolicy } from './retry-policy.ts';

export interface RouteConfigurationResource {
  readonly name: string;
  readonly virtualHosts: readonly VirtualHost[];
  /** `vhds`: virtual hosts that are missing can be asked for. */
  readonly isOnDemand?: true;
  readonly requestHeaders: HeaderChanges;
  readonly responseHeaders: HeaderChanges;
  readonly internalOnlyHeaders: readonly string[];
  readonly mostSpecificHeaderMutationsWins: boolean;
  readonly ignorePortInHostMatching: boolean;
  /** Lower case: names the virtual host in place of the authority; without it there is none. */
  readonly virtualHostHeader?: string;
  /** `;name=value` behind a segment is not matched. */
  readonly ignorePathParameters?: true;
  readonly maxDirectResponseBodySizeBytes: number;
  readonly typedPerFilterConfig: PerFilterConfig;
}

/** Resolved configuration by filter name; each filter knows the shape of its own. */
export type PerFilterConfig = ReadonlyMap<string, unknown>;

export interface VirtualHost {
  readonly name: string;
  /** As configured; exact, `*.suffix`, `prefix.*` and `*`. */
  readonly domains: readonly string[];
  readonly routes: readonly Route[];
  /** Chooses among routes of its own, in place of `routes`. */
  readonly matcher?: MatcherTree<readonly Route[]>;
  readonly requireTls: 'NONE' | 'EXTERNAL_ONLY' | 'ALL';
  readonly virtualClusters: readonly VirtualCluster[];
  readonly requestHeaders: HeaderChanges;
  readonly responseHeaders: HeaderChanges;
  readonly includeRequestAttemptCount: boolean;
  readonly includeAttemptCountInResponse: boolean;
  /** Further attempts say whether a timeout brought them: `x-envoy-is-timeout-retry`. */
  readonly includeIsTimeoutRetry?: true;
  readonly typedPerFilterConfig: PerFilterConfig;
  readonly metadata?: Metadata;
  readonly rateLimits?: readonly RateLimitPolicy[];
  /** The older place of what the CORS filter is configured with; its own settings win. */
  readonly cors?: CorsPolicy;
  readonly retryPolicy?: RetryPolicy;
  readonly hedgePolicy?: HedgePolicy;
  /** Bytes of request body kept for retries and shadows. */
  readonly perRequestBufferLimitBytes?: number;
}

export interface VirtualCluster {
  readonly name: string;
  readonly headers: readonly HeaderMatcher[];
}

export interface Route extends TracedRoute {
  readonly name: string;
  readonly match: RouteMatch;
  readonly action: RouteAction;
  readonly requestHeaders: HeaderChanges;
  readonly responseHeaders: HeaderChanges;
  readonly typedPerFilterConfig: PerFilterConfig;
  readonly statPrefix?: string;
  readonly perRequestBufferLimitBytes?: number;
  readonly metadata?: Metadata;
}

/** Where in metadata a value stands. */
export interface MetadataKey {
  readonly namespace: string;
  readonly path: readonly string[];
}

/** `filter_metadata` as JSON, by filter name. */
export type Metadata = Dictionary<Struct>;

export type PathMatch =
  | { readonly kind: 'prefix' | 'path' | 'path_separated_prefix'; readonly value: string }
  | { readonly kind: 'regex'; readonly regex: CompiledRegex }
  | { readonly kind: 'template'; readonly template: string }
  | { readonly kind: 'connect' };

export interface RouteMatch {
  readonly path: PathMatch;
  readonly caseSensitive: boolean;
  readonly headers: readonly HeaderMatcher[];
  readonly queryParameters: readonly QueryParameterMatcher[];
  readonly runtimeFraction?: RuntimeFraction;
  readonly grpcOnly: boolean;
  /** What the client's certificate has to be; absent members do not matter. */
  readonly tls?: { readonly presented?: boolean; readonly validated?: boolean };
  readonly dynamicMetadata?: readonly MetadataMatcher[];
  readonly filterState?: readonly FilterStateMatcher[];
  readonly cookies?: readonly CookieMatcher[];
}

export type RouteAction =
  | ClusterRouteAction
  | RedirectAction
  | DirectResponseAction
  | { readonly kind: 'none' };

export interface WeightedCluster {
  readonly name: string;
  /** Set instead of `name` when the cluster comes from a request header. */
  readonly clusterHeader?: string;
  readonly weight: number;
  readonly runtimeKey?: string;
  readonly requestHeaders: HeaderChanges;
  readonly responseHeaders: HeaderChanges;
  readonly hostRewriteLiteral?: string;
  readonly typedPerFilterConfig: PerFilterConfig;
  readonly metadataMatch?: Metadata;
}

export type ClusterSpecifier =
  | { readonly kind: 'cluster'; readonly name: string }
  | { readonly kind: 'cluster_header'; readonly header: string }
  /** A script, whose text has one character per byte, names it. */
  | { readonly kind: 'script'; readonly script: LuaScript; readonly defaultCluster: string }
  | {
      readonly kind: 'weighted';
      readonly clusters: readonly WeightedCluster[];
      readonly totalWeight: number;
      readonly runtimeKeyPrefix?: string;
      readonly headerName?: string;
      readonly useHashPolicy: boolean;
    };

export type HostRewrite =
  | { readonly kind: 'literal'; readonly value: string }
  | { readonly kind: 'auto' }
  | { readonly kind: 'header'; readonly name: string }
  | { readonly kind: 'path_regex'; readonly regex: CompiledRegex; readonly substitution: string }
  /** A substitution format; what is missing is `-`. */
  | { readonly kind: 'format'; readonly format: string };

export type PathRewrite =
  | { readonly kind: 'prefix'; readonly value: string }
  | { readonly kind: 'regex'; readonly regex: CompiledRegex; readonly substitution: string }
  | { readonly kind: 'template'; readonly template: string }
  /** A substitution format; what is missing is left out, and an empty result changes nothing. */
  | { readonly kind: 'format'; readonly format: string };

export type HashPolicy =
  | {
      readonly kind: 'header';
      readonly name: string;
      readonly regex?: CompiledRegex;
      readonly substitution?: string;
      readonly terminal: boolean;
    }
  | {
      readonly kind: 'cookie';
      readonly name: string;
      readonly ttlMs?: number;
      readonly path: string;
      readonly attributes: readonly { readonly name: string; readonly value: string }[];
      readonly terminal: boolean;
    }
  | { readonly kind: 'source_ip'; readonly terminal: boolean }
  | { readonly kind: 'query_parameter'; readonly name: string; readonly terminal: boolean }
  | { readonly kind: 'filter_state'; readonly key: string; readonly terminal: boolean };

export interface RequestMirrorPolicy {
  readonly cluster?: string;
  readonly clusterHeader?: string;
  readonly fraction?: RuntimeFraction;
  readonly disableShadowHostSuffixAppend: boolean;
  readonly hostRewriteLiteral?: string;
  readonly requestMutations?: readonly HeaderMutationRule[];
}

export interface UpgradeConfig {
  /** Lower case, such as `websocket` or `connect`. */
  readonly type: string;
  readonly enabled: boolean;
  /** Set on a CONNECT that Sluice terminates: payload goes to the upstream as plain TCP. */
  readonly terminateConnect: boolean;
  /** A POST is terminated the same way. */
  readonly allowPost: boolean;
}

/** Every member counts milliseconds; 0 means no limit. */
export interface StreamDuration {
  readonly maxMs?: number;
  /** Set: `grpc-timeout` decides, up to this. */
  readonly grpcHeaderMaxMs?: number;
  /** Taken off what `grpc-timeout` asks for. */
  readonly grpcHeaderOffsetMs?: number;
}

export interface ClusterRouteAction {
  readonly kind: 'cluster';
  readonly cluster: ClusterSpecifier;
  readonly clusterNotFoundStatus: number;
  readonly metadataMatch?: Metadata;
  readonly pathRewrite?: PathRewrite;
  readonly hostRewrite?: HostRewrite;
  readonly appendXForwardedHost: boolean;
  /** 0 disables; the API's default is 15 s and is filled in here. */
  readonly timeoutMs: number;
  readonly idleTimeoutMs?: number;
  /** `max_stream_duration`: where it is there, even empty, it takes the place of the timeout. */
  readonly streamDuration?: StreamDuration;
  /** The older `max_grpc_timeout`: bounds what a gRPC client asks for. 0 means no bound. */
  readonly maxGrpcTimeout?: { readonly maxMs: number; readonly offsetMs: number };
  readonly priority: 'DEFAULT' | 'HIGH';
  readonly retryPolicy?: RetryPolicy;
  readonly hedgePolicy?: HedgePolicy;
  readonly hashPolicies: readonly HashPolicy[];
  readonly mirrorPolicies: readonly RequestMirrorPolicy[];
  readonly upgrades: readonly UpgradeConfig[];
  readonly includeVirtualHostRateLimits: boolean;
  readonly rateLimits?: readonly RateLimitPolicy[];
  /** As of a virtual host. */
  readonly cors?: CorsPolicy;
  readonly internalRedirect?: InternalRedirect;
}

/** Redirects of an upstream that are followed here instead of being passed on. */
export interface InternalRedirect {
  /** How many may follow one another. */
  readonly maxRedirects: number;
  readonly codes: readonly number[];
  readonly allowCrossScheme: boolean;
  /** Lower case; copied into the redirected request, or removed from it where they are missing. */
  readonly responseHeadersToCopy: readonly string[];
  /** All must accept the redirect. */
  readonly predicates: readonly InternalRedirectPredicate[];
}

export type InternalRedirectPredicate =
  /** No route is reached twice from the same route. */
  | { readonly kind: 'previous_routes' }
  | { readonly kind: 'allow_listed_routes'; readonly routeNames: readonly string[] }
  /** Never from plain HTTP to HTTPS. */
  | { readonly kind: 'safe_cross_scheme' };

export interface RedirectAction {
  readonly kind: 'redirect';
  readonly status: 301 | 302 | 303 | 307 | 308;
  readonly httpsRedirect: boolean;
  readonly schemeRedirect?: string;
  readonly hostRedirect?: string;
  readonly portRedirect?: number;
  readonly path?:
    | { readonly kind: 'path'; readonly value: string }
    | { readonly kind: 'prefix'; readonly value: string }
    | { readonly kind: 'regex'; readonly regex: CompiledRegex; readonly substitution: string }
    /** Gives the path as `path` does; an empty one changes nothing. */
    | { readonly kind: 'format'; readonly format: string };
  readonly stripQuery: boolean;
}

export interface DirectResponseAction {
  readonly kind: 'direct_response';
  readonly status: number;
  /** Latin-1 or UTF-8 bytes of the body; absent means an empty body. */
  readonly body?: Uint8Array;
  /** A body that is a substitution format instead. */
  readonly bodyFormat?: { readonly format: string; readonly contentType: string };
}
