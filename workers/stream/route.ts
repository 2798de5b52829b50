/**
 * What the connection manager and the router know of routing. A route table is compiled once per
 * route configuration (`buildRouteTable` in route-table.ts); matching allocates nothing where the
 * answer does not depend on the request (only `cluster_header` makes an object per request).
 */
import type { ExplainedRouting } from '../../shared/explain/explanation.ts';
import type { Steps } from '../loop/sliced-work.ts';
import type { Struct } from '../../shared/text/dictionary.ts';
import type { HeaderPredicate } from '../../shared/matchers/header-matcher.ts';
import type { CorsPolicy } from '../../shared/resources/filters/http/cors.ts';
import type {
  ClusterRouteAction,
  Metadata,
  PerFilterConfig,
  VirtualHost,
} from '../../shared/resources/routes/route.ts';
import type { RetryPolicy } from '../../shared/resources/routes/retry-policy.ts';
import type { RouteDecorator, RouteTracing } from '../../shared/resources/tracing/tracing.ts';
import type { Hash64 } from '../hash/xxhash64.ts';
import type { HeaderMap } from './header-map.ts';
import type { StreamInfo } from './stream-info.ts';

export interface RouteTable {
  /** The route configuration's name. */
  readonly name: string;
  /** Headers that no external request may bring; lower case. */
  readonly internalOnlyHeaders: readonly string[];
  /** Virtual hosts that are missing can be asked for. */
  readonly isOnDemand: boolean;
  /** Whether a virtual host is there for the request's authority. */
  hasHost(headers: HeaderMap): boolean;
  /**
   * The route for these headers, by `authority`, `path`, `method` and the rest, or undefined when
   * no virtual host or route fits. Changes neither argument.
   */
  match(headers: HeaderMap, info: StreamInfo): ResolvedRoute | undefined;
  /** The same route, with what was looked at before it. */
  explain(headers: HeaderMap, info: StreamInfo): Steps<RoutedExplanation>;
}

interface RoutedExplanation extends Omit<ExplainedRouting, 'routeConfiguration'> {
  readonly route: ResolvedRoute | undefined;
}

export type ResolvedRoute = ClusterRoute | RedirectRoute | DirectResponseRoute;

export interface RouteCommon {
  readonly routeName: string;
  readonly virtualHost: VirtualHost;
  readonly metadata: Metadata | undefined;
  readonly tracing: RouteTracing | undefined;
  readonly decorator: RouteDecorator | undefined;
  /** One object for all requests that take this route. */
  readonly filterSettings: FilterSettings;
  /** `response_headers_to_add` and `_remove` of all levels, in Envoy's order. */
  finalizeResponseHeaders(headers: HeaderMap, info: StreamInfo): void;
}

export interface ClusterRoute extends RouteCommon {
  readonly kind: 'cluster';
  /** The hash by which a host is chosen; undefined when the route has no hash policy. */
  readonly hashOf: RequestHash | undefined;
  /**
   * Bytes of a request's body that may be kept to be sent again; undefined: what a stream may keep.
   */
  readonly copyLimitBytes: number | undefined;
  /** Empty when a `cluster_header` was missing: answered as a cluster that does not exist. */
  readonly clusterName: string;
  readonly action: ClusterRouteAction;
  /**
   * What hosts have to have in their `envoy.lb` metadata; of the route and its weighted cluster.
   */
  readonly subset: SubsetCriteria | undefined;
  /** `stat_prefix` of the route, empty when none. */
  readonly statPrefix: string;
  /** Retry policy of the route, else of its virtual host. */
  readonly retryPolicy: CompiledRetryPolicy | undefined;
  /**
   * Path and host rewrites and `request_headers_to_add` and `_remove` of all levels, as the last
   * step before the request is sent; sets `x-envoy-original-path` when `insertEnvoyHeaders`.
   */
  finalizeRequestHeaders(headers: HeaderMap, info: StreamInfo, insertEnvoyHeaders: boolean): void;
  /**
   * Name of the first virtual cluster that fits, `other` when there are some and none fits, else
   * ''.
   */
  virtualClusterOf(headers: HeaderMap): string;
}

/** A redirect of a route, or of a virtual host's `require_tls`. */
export interface RedirectRoute extends RouteCommon {
  readonly kind: 'redirect';
  readonly status: number;
  location(headers: HeaderMap, info: StreamInfo): string;
  /** The path as the redirect rewrites it, which logs show; undefined where it stays. */
  readonly rewritePath: ((path: string, info: StreamInfo) => string | undefined) | undefined;
}

export interface DirectResponseRoute extends RouteCommon {
  readonly kind: 'direct_response';
  readonly status: number;
  /** Undefined: the default of Envoy (`text/plain` when there is a body). */
  readonly contentType: string | undefined;
  /** `location` of a 201 or of a redirecting status, the request's own address; else undefined. */
  location(headers: HeaderMap, info: StreamInfo): string | undefined;
  /** Undefined means an empty body; a string has one character per byte. */
  body(headers: HeaderMap, info: StreamInfo): Uint8Array | string | undefined;
}

/** What filters are told by the levels of a route. */
export interface FilterSettings {
  /** Each filter's most specific configuration. */
  readonly perFilterConfig: PerFilterConfig;
  /** Filters that take part because of the route, or do not; others as they do by default. */
  readonly switches: ReadonlyMap<string, boolean>;
  /** Every level's, the most specific first. */
  readonly filterConfigs: readonly PerFilterConfig[];
  /** The policies that stand outside of filter configurations, the most specific first. */
  readonly corsPolicies: readonly CorsPolicy[];
}

/** `addCookie` is given each `set-cookie` that the response must carry. */
export type RequestHash = (
  headers: HeaderMap,
  info: StreamInfo,
  addCookie: (setCookie: string) => void,
) => Hash64 | undefined;

/** A retry policy of a route, made ready for its requests. */
export interface CompiledRetryPolicy {
  readonly policy: RetryPolicy;
  /** Bits of `RetryOn`. */
  readonly conditions: number;
  /** One of them is enough. */
  readonly responseHeaders: readonly HeaderPredicate[];
  /** When there are any, one must match the request or nothing is retried. */
  readonly requestHeaders: readonly HeaderPredicate[];
}

/** What a host has to have in its `envoy.lb` metadata: values by key. */
export type SubsetCriteria = Struct;

/** What Envoy calls requests that fit none of a virtual host's virtual clusters. */
export const OTHER_VIRTUAL_CLUSTER = 'other';
