/** Routes that go to a cluster: compiled request finalisation and the choice between clusters. */
import { joined } from '../../shared/text/dictionary.ts';
import type {
  ClusterRouteAction,
  Route,
  VirtualHost,
  WeightedCluster,
} from '../../shared/resources/routes/route.ts';
import { readInteger } from '../../shared/runtime/read-runtime.ts';
import type { Hash64 } from '../hash/xxhash64.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import type { HeaderMutation } from './header-mutations.ts';
import { compileHostRewrite, replaceAuthority } from './host-rewrite.ts';
import type { HostRewriter } from './host-rewrite.ts';
import { compilePathRewrite } from './path-rewrite.ts';
import type { PathRewriter } from './path-rewrite.ts';
import { compileHashPolicies } from './hash-policy.ts';
import { compileClusterScript } from './cluster-script.ts';
import { compileRetryPolicy } from './retry-policy.ts';
import { filterSettingsOf, mutationsOf } from './route-context.ts';
import type { RouteContext } from './route-context.ts';
import type { ClusterRoute } from '../stream/route.ts';
import type { VirtualClusterOf } from './virtual-clusters.ts';

/**
 * Chooses the route of one request; allocates only where the cluster's name comes from a header.
 */
export type ClusterRouteChoice = (headers: HeaderMap, info: StreamInfo) => ClusterRoute;

export function compileClusterRoute(
  route: Route,
  action: ClusterRouteAction,
  context: RouteContext,
  virtualClusterOf: VirtualClusterOf,
): ClusterRouteChoice {
  const make = (weighted?: WeightedCluster) =>
    new CompiledClusterRoute({ route, action, context, virtualClusterOf }, weighted);
  const { cluster } = action;
  switch (cluster.kind) {
    case 'cluster': {
      const only = make();
      only.clusterName = cluster.name;
      return () => only;
    }
    case 'cluster_header': {
      const base = make();
      return (headers) => base.withCluster(headers.get(cluster.header) ?? '');
    }
    case 'script': {
      const base = make();
      const choose = compileClusterScript(cluster);
      return (headers) => base.withCluster(choose(headers));
    }
    case 'weighted':
      return compileWeightedChoice(
        cluster,
        cluster.clusters.map(make),
        context,
        cluster.useHashPolicy ? compileHashPolicies(action.hashPolicies) : undefined,
      );
  }
}

type WeightedSpecifier = Extract<ClusterRouteAction['cluster'], { kind: 'weighted' }>;

const UNSIGNED = /^\d{1,15}$/;

function compileWeightedChoice(
  specifier: WeightedSpecifier,
  routes: readonly CompiledClusterRoute[],
  { runtime }: RouteContext,
  hashOf: ClusterRoute['hashOf'],
): ClusterRouteChoice {
  const { clusters, headerName, runtimeKeyPrefix, totalWeight } = specifier;
  const weightOf = ({ name, weight, runtimeKey }: WeightedCluster): number => {
    const key = runtimeKey ?? (runtimeKeyPrefix && `${runtimeKeyPrefix}.${name}`);
    return key === undefined ? weight : readInteger(runtime.snapshot, key, weight);
  };
  return (headers, info) => {
    const given = headerName === undefined ? undefined : headers.get(headerName);
    const hash = hashOf?.(headers, info, () => undefined);
    const total = clusters.reduce((sum, cluster) => sum + weightOf(cluster), 0) || totalWeight || 1;
    let point = pointOf(given, hash, total) ?? runtime.random() % total;
    let chosen = 0;
    while (chosen < clusters.length - 1) {
      point -= weightOf(clusters[chosen] ?? NO_CLUSTER);
      if (point < 0) break;
      chosen += 1;
    }
    return routeFor(routes[chosen], clusters[chosen], headers);
  };
}

/** A number of the request wins over its hash; undefined where it has neither. */
function pointOf(
  given: string | undefined,
  hash: Hash64 | undefined,
  total: number,
): number | undefined {
  if (given !== undefined && UNSIGNED.test(given)) return Number(given) % total;
  if (hash === undefined) return undefined;
  return Number(((BigInt(hash.high) << 32n) | BigInt(hash.low)) % BigInt(total));
}

const NO_CLUSTER: WeightedCluster = {
  name: '',
  weight: 0,
  requestHeaders: { add: [], remove: [] },
  responseHeaders: { add: [], remove: [] },
  typedPerFilterConfig: new Map(),
};

function routeFor(
  route: CompiledClusterRoute | undefined,
  cluster: WeightedCluster | undefined,
  headers: HeaderMap,
): ClusterRoute {
  if (route === undefined || cluster === undefined) {
    throw new Error('a weighted route has no clusters');
  }
  if (cluster.clusterHeader === undefined) return route;
  return route.withCluster(headers.get(cluster.clusterHeader) ?? '');
}

interface Ingredients {
  readonly route: Route;
  readonly action: ClusterRouteAction;
  readonly context: RouteContext;
  readonly virtualClusterOf: VirtualClusterOf;
}

class CompiledClusterRoute implements ClusterRoute {
  readonly kind = 'cluster';
  readonly routeName: string;
  readonly virtualHost: VirtualHost;
  readonly metadata: ClusterRoute['metadata'];
  readonly tracing: ClusterRoute['tracing'];
  readonly decorator: ClusterRoute['decorator'];
  readonly filterSettings: ClusterRoute['filterSettings'];
  readonly action: ClusterRouteAction;
  readonly statPrefix: string;
  readonly retryPolicy: ClusterRoute['retryPolicy'];
  readonly copyLimitBytes: number | undefined;
  readonly subset: ClusterRoute['subset'];
  readonly hashOf: ClusterRoute['hashOf'];
  clusterName: string;
  readonly virtualClusterOf: VirtualClusterOf;
  readonly #requestMutation: HeaderMutation | undefined;
  readonly #responseMutation: HeaderMutation | undefined;
  readonly #rewritePath: PathRewriter | undefined;
  readonly #rewriteHost: HostRewriter | undefined;
  readonly #clusterHost: string | undefined;

  constructor(ingredients: Ingredients, weighted: WeightedCluster | undefined) {
    const { route, action, context, virtualClusterOf } = ingredients;
    this.routeName = route.name;
    this.virtualHost = context.virtualHost;
    this.metadata = route.metadata;
    this.tracing = route.tracing;
    this.decorator = route.decorator;
    this.filterSettings = filterSettingsOf(context, route, weighted);
    this.action = action;
    this.statPrefix = route.statPrefix ?? '';
    const retryPolicy = action.retryPolicy ?? context.virtualHost.retryPolicy;
    this.retryPolicy = retryPolicy && compileRetryPolicy(retryPolicy);
    const { metadataMatch: common } = action;
    const subset = joined(common?.['envoy.lb'], weighted?.metadataMatch?.['envoy.lb']);
    this.subset = Object.keys(subset).length === 0 ? undefined : subset;
    this.hashOf = compileHashPolicies(action.hashPolicies);
    this.copyLimitBytes =
      route.perRequestBufferLimitBytes ?? context.virtualHost.perRequestBufferLimitBytes;
    this.clusterName = weighted?.name ?? '';
    this.virtualClusterOf = virtualClusterOf;
    this.#requestMutation = mutationsOf('request', context, route, weighted);
    this.#responseMutation = mutationsOf('response', context, route, weighted);
    this.#rewritePath =
      action.pathRewrite && compilePathRewrite(action.pathRewrite, route.match.path);
    this.#rewriteHost = compileHostRewrite(action.hostRewrite);
    this.#clusterHost = weighted?.hostRewriteLiteral;
  }

  /** The same route to a cluster that only the request knows. */
  withCluster(clusterName: string): ClusterRoute {
    return {
      kind: 'cluster',
      routeName: this.routeName,
      virtualHost: this.virtualHost,
      metadata: this.metadata,
      tracing: this.tracing,
      decorator: this.decorator,
      filterSettings: this.filterSettings,
      action: this.action,
      subset: this.subset,
      statPrefix: this.statPrefix,
      retryPolicy: this.retryPolicy,
      copyLimitBytes: this.copyLimitBytes,
      hashOf: this.hashOf,
      clusterName,
      virtualClusterOf: this.virtualClusterOf,
      finalizeRequestHeaders: (headers, info, insert) =>
        this.finalizeRequestHeaders(headers, info, insert),
      finalizeResponseHeaders: (headers, info) => this.finalizeResponseHeaders(headers, info),
    };
  }

  finalizeRequestHeaders(headers: HeaderMap, info: StreamInfo, insertEnvoyHeaders: boolean): void {
    this.#requestMutation?.(headers, info);
    this.#rewriteAuthority(headers, info, insertEnvoyHeaders);
    const path = this.#rewritePath?.(headers.path, info);
    if (path === undefined) return;
    if (insertEnvoyHeaders) headers.set('x-envoy-original-path', headers.path);
    headers.path = path;
  }

  finalizeResponseHeaders(headers: HeaderMap, info: StreamInfo): void {
    this.#responseMutation?.(headers, info);
  }

  #rewriteAuthority(headers: HeaderMap, info: StreamInfo, insertEnvoyHeaders: boolean): void {
    if (this.#clusterHost === undefined && this.#rewriteHost === undefined) return;
    const { appendXForwardedHost } = this.action;
    const options = { appendXForwardedHost, insertEnvoyHeaders };
    if (this.#clusterHost !== undefined) {
      headers.authority = this.#clusterHost;
    }
    const host = this.#rewriteHost?.(headers, info);
    if (host !== undefined) replaceAuthority(headers, host, options);
  }
}
