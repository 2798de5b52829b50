/**
 * Settings of HTTP filters as workers receive them, and what a route may say of each. A filter's
 * `name` is the configured one: per-route settings refer to it.
 * Source: envoy.extensions.filters.http.*.v3.
 */
import type { Struct } from '../text/dictionary.ts';
import type { AccessLogConfig } from './access-log.ts';
import type { HeaderValueOption } from './routes/headers.ts';
import type { FilterStateValue } from './network-filters.ts';
import type { TapFilterOptions } from './tap.ts';
import type { DescriptorLimit, RateLimitPolicy } from './routes/rate-limits.ts';
import type { RateLimitBucket } from './routes/rate-limit-bucket.ts';
import type { MatcherTree } from './routes/matcher-tree.ts';
import type {
  FilterStateMatcher,
  HeaderMatcher,
  MetadataMatcher,
  RuntimeFraction,
  StringMatcher,
} from './routes/matchers.ts';

/** `isOffByDefault`: the filter sees only requests whose route has settings for it. */
export type HttpFilter = ConfiguredFilter & { readonly isOffByDefault?: true };

type ConfiguredFilter =
  | {
      readonly kind: 'set_metadata';
      readonly name: string;
      readonly options: SetMetadataOptions;
    }
  | {
      readonly kind: 'set_filter_state';
      readonly name: string;
      readonly options: SetFilterStateOptions;
    }
  | {
      readonly kind: 'stateful_session';
      readonly name: string;
      readonly options: StatefulSessionOptions;
    }
  | { readonly kind: 'compressor'; readonly name: string; readonly options: CompressorOptions }
  | { readonly kind: 'decompressor'; readonly name: string; readonly options: DecompressorOptions }
  | { readonly kind: 'csrf'; readonly name: string; readonly options: CsrfPolicy }
  | { readonly kind: 'basic_auth'; readonly name: string; readonly options: BasicAuthOptions }
  | { readonly kind: 'router'; readonly name: string; readonly options: RouterOptions }
  | { readonly kind: 'cors'; readonly name: string }
  | { readonly kind: 'on_demand'; readonly name: string }
  | { readonly kind: 'tap'; readonly name: string; readonly options: TapFilterOptions }
  | { readonly kind: 'fault'; readonly name: string; readonly options: FaultOptions }
  | { readonly kind: 'buffer'; readonly name: string; readonly maxRequestBytes: number }
  | {
      readonly kind: 'dynamic_forward_proxy';
      readonly name: string;
      /** How long a request waits for a cluster of its own. */
      readonly clusterInitTimeoutMs: number;
      /** Filters may name the host. */
      readonly takesDynamicHost?: true;
    }
  | {
      readonly kind: 'local_ratelimit';
      readonly name: string;
      readonly options: LocalRateLimitOptions;
    }
  /** Its settings travel apart, by `key`; until they are there `fallback` serves. */
  | {
      readonly kind: 'discovered';
      readonly name: string;
      readonly key: string;
      readonly fallback?: HttpFilter;
    }
  | { readonly kind: 'rbac'; readonly name: string; readonly options: RbacOptions }
  | {
      readonly kind: 'health_check';
      readonly name: string;
      readonly options: HealthCheckFilterOptions;
    }
  | {
      readonly kind: 'header_mutation';
      readonly name: string;
      readonly options: HeaderMutationOptions;
    };

export type CompressionLibrary =
  | {
      readonly kind: 'gzip';
      /** In zlib's numbers. */
      readonly level: number;
      readonly memoryLevel: number;
      readonly strategy: number;
      readonly windowBits: number;
      readonly chunkBytes: number;
    }
  | {
      readonly kind: 'brotli';
      readonly quality: number;
      /** In the library's numbers: 0 generic, 1 text, 2 font. */
      readonly mode: number;
      readonly windowBits: number;
      readonly inputBlockBits: number;
      readonly withoutContextModeling: boolean;
      readonly chunkBytes: number;
    };

export interface CompressionDirection {
  readonly isEnabled: boolean;
  readonly enabledKey?: string;
  readonly minContentLength: number;
  /** Media types in lower case, without parameters. */
  readonly contentTypes: readonly string[];
}

export interface CompressorOptions {
  /** Configured name of the library's extension, a part of the statistics' names. */
  readonly libraryName: string;
  readonly library: CompressionLibrary;
  /** Absent: requests pass as they are. */
  readonly request?: CompressionDirection;
  readonly response: CompressionDirection;
  /** Statistics of responses are named apart, under `response.`. */
  readonly hasResponseStats: boolean;
  /** What becomes of answers with an entity tag. */
  readonly etag: 'remove_strong' | 'weaken' | 'leave_uncompressed';
  readonly removeAcceptEncoding: boolean;
  readonly uncompressibleStatuses: readonly number[];
  readonly chooseFirst: boolean;
}

/** Per route. */
export interface CompressorPerRoute {
  readonly isDisabled: boolean;
  readonly removeAcceptEncoding?: boolean;
}

export interface DecompressorOptions {
  /** The library's configured name. */
  readonly libraryName: string;
  readonly library: DecompressionLibrary;
  readonly request: DecompressionDirection;
  readonly response: DecompressionDirection;
  /** Upstream is told that answers may come compressed. */
  readonly advertises: boolean;
}

export interface DecompressionLibrary {
  readonly kind: 'gzip' | 'brotli';
  readonly chunkBytes: number;
  /** Bytes that each compressed byte may become, counted over the body so far. */
  readonly maxRatio: number;
  /** Of gzip. */
  readonly windowBits: number;
}

export interface DecompressionDirection {
  readonly isEnabled: boolean;
  readonly enabledKey?: string;
  readonly ignoresNoTransform: boolean;
}

export interface CsrfPolicy {
  readonly enabled: RuntimeFraction;
  readonly shadowEnabled?: RuntimeFraction;
  readonly additionalOrigins: readonly StringMatcher[];
}

export interface BasicAuthOptions extends BasicAuthPerRoute {
  /** Header that carries the user's name upstream; empty for none. */
  readonly forwardUsernameHeader: string;
  /** Header that carries the credentials, in lower case. */
  readonly authenticationHeader: string;
}

/** Per route: other users. */
export interface BasicAuthPerRoute {
  /** User name to SHA-1 of the password in base64. */
  readonly users: ReadonlyMap<string, string>;
}

interface RouterOptions {
  readonly dynamicStats: boolean;
  readonly suppressEnvoyHeaders: boolean;
  readonly respectExpectedRqTimeout: boolean;
  readonly startChildSpan: boolean;
  readonly upstreamLogs: readonly AccessLogConfig[];
}

/**
 * envoy.config.route.v3.FilterConfig with `disabled`: the filter does not see the route's requests.
 */
export interface DisabledFilter {
  readonly disabled: true;
}

/** Of several levels the most specific one counts, member by member; empty ones do not count. */
export interface CorsPolicy {
  readonly allowOrigins: readonly StringMatcher[];
  readonly allowMethods: string;
  readonly allowHeaders: string;
  readonly exposeHeaders: string;
  readonly maxAge: string;
  readonly allowCredentials?: boolean;
  readonly allowPrivateNetworkAccess?: boolean;
  /** Absent: they are. */
  readonly forwardNotMatchingPreflights?: boolean;
  readonly filterEnabled?: RuntimeFraction;
  readonly shadowEnabled?: RuntimeFraction;
}

export interface FaultOptions {
  readonly delay?: {
    /** Absent: the length comes from `x-envoy-fault-delay-request`. */
    readonly fixedMs?: number;
    readonly percentage: RuntimeFraction;
  };
  readonly abort?: {
    /** Absent both: the status comes from a request header. */
    readonly httpStatus?: number;
    readonly grpcStatus?: number;
    readonly percentage: RuntimeFraction;
  };
  readonly upstreamCluster: string;
  readonly headers: readonly HeaderMatcher[];
  readonly downstreamNodes: readonly string[];
  readonly maxActiveFaults?: number;
  readonly delayDurationRuntime: string;
  readonly abortHttpStatusRuntime: string;
  readonly maxActiveFaultsRuntime: string;
}

export interface LocalRateLimitOptions {
  readonly statPrefix: string;
  readonly status: number;
  /** Absent: the filter does nothing. */
  readonly bucket?: RateLimitBucket;
  readonly enabled: RuntimeFraction;
  readonly enforced: RuntimeFraction;
  readonly responseHeaders: readonly HeaderValueOption[];
  /** One bucket per connection instead of one for all. */
  readonly perConnection: boolean;
  /** `X-RateLimit-Limit`, `-Remaining` and `-Reset`. */
  readonly rateLimitHeaders: boolean;
  readonly descriptors: readonly DescriptorLimit[];
  /** Of the route's and virtual host's rate limits those of this number count. */
  readonly stage: number;
  /** In place of the route's and virtual host's; absent where there are none. */
  readonly rateLimits?: readonly RateLimitPolicy[];
  /**
   * Whether the virtual host's limits count beside the route's: only where it has none by default.
   */
  readonly virtualHostLimits: 'OVERRIDE' | 'INCLUDE' | 'IGNORE';
  /** The filter's own bucket gives a token for requests with a descriptor too. */
  readonly alwaysTakesOwn: boolean;
  readonly notEnforcedHeaders: readonly HeaderValueOption[];
  /** A gRPC client is told RESOURCE_EXHAUSTED instead of UNAVAILABLE. */
  readonly isResourceExhausted: boolean;
}

/** What RBAC matches requests and connections by; permissions and principals are alike here. */
export type RbacRule =
  | { readonly kind: 'any' }
  | { readonly kind: 'and' | 'or'; readonly rules: readonly RbacRule[] }
  | { readonly kind: 'not'; readonly rule: RbacRule }
  | { readonly kind: 'header'; readonly header: HeaderMatcher }
  | { readonly kind: 'path'; readonly path: StringMatcher }
  | { readonly kind: 'destination_port'; readonly port: number }
  | { readonly kind: 'destination_port_range'; readonly start: number; readonly end: number }
  | {
      readonly kind: 'destination_ip' | 'direct_remote_ip' | 'remote_ip';
      readonly address: string;
      readonly prefixLength: number;
    }
  | { readonly kind: 'requested_server_name'; readonly matcher: StringMatcher }
  | { readonly kind: 'path_template'; readonly template: string }
  | {
      readonly kind: 'metadata';
      readonly source: 'dynamic' | 'route';
      readonly matcher: MetadataMatcher;
    }
  | { readonly kind: 'filter_state'; readonly matcher: FilterStateMatcher }
  /** Absent: any client with a verified certificate. */
  | { readonly kind: 'authenticated'; readonly principal?: StringMatcher };

interface RbacPolicy {
  readonly name: string;
  readonly permission: RbacRule;
  readonly principal: RbacRule;
}

export interface RbacRules {
  readonly action: 'ALLOW' | 'DENY' | 'LOG';
  /** In the order of their names, as Envoy evaluates them. */
  readonly policies: readonly RbacPolicy[];
}

/** A leaf of a tree: what becomes of the request, and under which name that is told. */
export interface RbacAction {
  readonly name: string;
  readonly action: 'ALLOW' | 'DENY' | 'LOG';
}

/** Rules, or a tree whose requests without a match are denied. */
export type RbacDecider =
  | { readonly kind: 'rules'; readonly rules: RbacRules }
  | { readonly kind: 'tree'; readonly tree: MatcherTree<RbacAction> };

export interface RbacOptions {
  readonly rules?: RbacDecider;
  readonly shadowRules?: RbacDecider;
  /** Counts by policy too. */
  readonly countsPolicies: boolean;
  readonly rulesStatPrefix: string;
  readonly shadowRulesStatPrefix: string;
}

/** Per route: other rules, or none at all. */
export interface RbacPerRoute {
  readonly rbac?: RbacOptions;
}

export interface HealthCheckFilterOptions {
  /** Health checks go to the upstream, unless this server was failed on purpose. */
  readonly passThrough: boolean;
  /** How long an upstream's answer is repeated; 0 for never. */
  readonly cacheTimeMs: number;
  /** What makes a request a health check; all must match. */
  readonly headers: readonly HeaderMatcher[];
  readonly clusterMinHealthyPercent: readonly {
    readonly cluster: string;
    readonly percent: number;
  }[];
}

export type HeaderMutationRule =
  | { readonly kind: 'append'; readonly option: HeaderValueOption }
  | { readonly kind: 'remove'; readonly name: string }
  | { readonly kind: 'remove_on_match'; readonly matcher: StringMatcher };

export interface HeaderMutationOptions {
  readonly request: readonly HeaderMutationRule[];
  readonly requestTrailers: readonly HeaderMutationRule[];
  readonly response: readonly HeaderMutationRule[];
  readonly responseTrailers: readonly HeaderMutationRule[];
  /**
   * Of the chain: the route's own rules run last; otherwise those of the route configuration do.
   */
  readonly mostSpecificWins: boolean;
}

export interface BufferPerRoute {
  /** Absent: the route's requests are not buffered. */
  readonly maxRequestBytes?: number;
}

/** In order; `value` is a struct. Where a namespace is taken, it is merged into it or counted. */
export type SetMetadataOptions = readonly {
  readonly namespace: string;
  readonly allowOverwrite: boolean;
  readonly value: Struct;
}[];

export interface SetFilterStateOptions {
  readonly onRequestHeaders: readonly FilterStateValue[];
  /** Then the route is chosen again. */
  readonly clearsRoute: boolean;
}

export type SessionState =
  | {
      readonly kind: 'cookie';
      readonly cookie: {
        readonly name: string;
        readonly ttlMs?: number;
        readonly path: string;
        readonly attributes: readonly { readonly name: string; readonly value: string }[];
      };
    }
  /** Lower case. */
  | { readonly kind: 'header'; readonly name: string };

export interface StatefulSessionOptions {
  /** Absent: requests are left alone. */
  readonly state?: SessionState;
  /** A request whose host is gone is refused instead of going elsewhere. */
  readonly strict: boolean;
}

/** Per route: other settings, or none at all. */
export interface StatefulSessionPerRoute {
  readonly session?: StatefulSessionOptions;
}

/** Per route: the name that is looked up instead of the request's own. */
export interface DynamicForwardProxyPerRoute {
  readonly hostRewriteLiteral?: string;
  /** Lower case. */
  readonly hostRewriteHeader?: string;
}
