/**
 * Makes route configurations for unit tests: everything that is not given has the API's default.
 */
import { compileRegex } from '../../../supervisor/regex/compile-regex.ts';
import type { HeaderValueOption } from '../../../shared/resources/routes/headers.ts';
import type { CompiledRegex } from '../../../shared/resources/routes/matchers.ts';
import type {
  ClusterRouteAction,
  DirectResponseAction,
  PathMatch,
  RedirectAction,
  Route,
  RouteAction,
  RouteConfigurationResource,
  RouteMatch,
  VirtualHost,
  WeightedCluster,
} from '../../../shared/resources/routes/route.ts';
import type { RetryPolicy } from '../../../shared/resources/routes/retry-policy.ts';
import {
  CLUSTER_ROUTE_DEFAULTS,
  MATCH_DEFAULTS,
  NO_CHANGES,
  ROUTES_DEFAULTS,
  ROUTE_DEFAULTS,
  VIRTUAL_HOST_DEFAULTS,
} from '../../../workers/warm-up/default-resources.ts';

export function regex(pattern: string): CompiledRegex {
  const result = compileRegex(pattern, { use: 'replace' });
  if (!result.ok) throw new Error(result.error);
  return result.regex;
}

export function prefix(value: string): PathMatch {
  return { kind: 'prefix', value };
}

export function addition(
  name: string,
  format: string,
  changes: Partial<HeaderValueOption> = {},
): HeaderValueOption {
  return {
    name,
    format,
    appendAction: 'APPEND_IF_EXISTS_OR_ADD',
    keepEmptyValue: false,
    ...changes,
  };
}

export function toCluster(changes: Partial<ClusterRouteAction> = {}): ClusterRouteAction {
  return {
    ...CLUSTER_ROUTE_DEFAULTS,
    cluster: { kind: 'cluster', name: 'up' },
    ...changes,
  };
}

/** A policy by which nothing is tried again. */
export const NO_RETRIES: RetryPolicy = {
  retryOn: [],
  numRetries: 1,
  retriableStatusCodes: [],
  retriableHeaders: [],
  retriableRequestHeaders: [],
  backOffBaseMs: 1,
  backOffMaxMs: 2,
  hostPredicates: [],
  hostSelectionRetryMaxAttempts: 1,
};

export function redirect(changes: Partial<RedirectAction> = {}): RedirectAction {
  return { kind: 'redirect', status: 301, httpsRedirect: false, stripQuery: false, ...changes };
}

export function direct(changes: Partial<DirectResponseAction> = {}): DirectResponseAction {
  return { kind: 'direct_response', status: 200, ...changes };
}

export function weightedCluster(
  name: string,
  changes: Partial<WeightedCluster> = {},
): WeightedCluster {
  return {
    name,
    weight: 1,
    requestHeaders: NO_CHANGES,
    responseHeaders: NO_CHANGES,
    typedPerFilterConfig: new Map(),
    ...changes,
  };
}

export function route(
  path: PathMatch,
  action: RouteAction,
  changes: Partial<Omit<Route, 'match'>> & { match?: Partial<RouteMatch> } = {},
): Route {
  const { match, ...rest } = changes;
  return {
    ...ROUTE_DEFAULTS,
    action,
    ...rest,
    match: {
      ...MATCH_DEFAULTS,
      path,
      ...match,
    },
  };
}

export function virtualHost(
  routes: readonly Route[],
  changes: Partial<VirtualHost> = {},
): VirtualHost {
  return {
    ...VIRTUAL_HOST_DEFAULTS,
    name: 'all',
    domains: ['*'],
    routes,
    ...changes,
  };
}

export function routeConfiguration(
  virtualHosts: readonly VirtualHost[],
  changes: Partial<RouteConfigurationResource> = {},
): RouteConfigurationResource {
  return {
    ...ROUTES_DEFAULTS,
    name: 'routes',
    virtualHosts,
    ...changes,
  };
}
