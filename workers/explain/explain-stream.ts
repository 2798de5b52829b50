/**
 * What a connection manager does with a request that somebody asks about: policy, routes, filters,
 * the route's action, the cluster. Each is asked of the parts that serve requests; filters are
 * named and not run, and nothing is counted.
 */
import type { ExplainedAction, Explanation } from '../../shared/explain/explanation.ts';
import type { Steps } from '../loop/sliced-work.ts';
import type { ConnectionManager } from '../manager/manager.ts';
import { requestRefusal } from '../manager/request-checks.ts';
import { activeFilters } from '../filter-chain/active-filters.ts';
import { noteRoute } from '../manager/stream-facts.ts';
import type { HeaderPolicy } from '../manager/types.ts';
import { allowsUpgrade, upgradeType } from '../manager/upgrades.ts';
import { type HeaderOptions, finalizeRequest } from '../router/envoy-headers.ts';
import { RequestDeadline } from '../router/exchange/request-deadline.ts';
import { takeRequestRetries } from '../routing/retry-policy.ts';
import { streamDurationMs } from '../routing/timeouts.ts';
import type { ExplainedStream, ExplainStream } from '../stream/explained.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { ClusterRoute, ResolvedRoute } from '../stream/route.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import type { UpstreamCluster } from '../upstream/cluster.ts';
import { explainCluster } from './explain-cluster.ts';
import { changesBetween, snapshotOf } from './header-changes.ts';

export interface ExplainedManager {
  readonly manager: ConnectionManager;
  /** Makes one as the manager's, which counts nothing. */
  readonly policy: () => HeaderPolicy;
  readonly headerOptions: HeaderOptions;
  readonly clusters: { get(name: string): UpstreamCluster | undefined };
}

const NEVER = { sheds: () => false, refusesRequest: () => false };
const NOWHERE = { count: () => undefined };

export function makeStreamExplainer(parts: ExplainedManager): ExplainStream {
  return (headers, info) => explainStream(parts, headers, info);
}

function* explainStream(
  parts: ExplainedManager,
  headers: HeaderMap,
  info: StreamInfo,
): Steps<ExplainedStream> {
  const { manager } = parts;
  const before = snapshotOf(headers);
  info.requestHeaders = headers;
  const silent = {
    config: manager.config,
    parts: { overload: NEVER, stats: NOWHERE, policy: parts.policy() },
  };
  const refused = requestRefusal(headers, info, silent)?.refusal;
  const request = {
    clientAddress: info.downstreamRemoteAddress.text,
    isInternal: info.isInternalRequest,
    changes: changesBetween(before, snapshotOf(headers)),
  };
  if (refused !== undefined) {
    const end =
      typeof refused === 'string'
        ? { why: `the connection manager refuses it as its protocol does: ${refused}` }
        : {
            why: 'the connection manager answers it before it looks for a route',
            status: refused.status,
            details: refused.details,
          };
    return { request, end };
  }
  const table = manager.parts.routes.tableFor(headers);
  const { route, ...tried } = yield* table?.explain(headers, info) ?? nothingTried();
  noteRoute(info, route);
  const said = {
    request,
    routing: { routeConfiguration: table?.name ?? '', ...tried },
    filters: explainFilters(manager, route),
  };
  const upgrade = upgradeType(headers);
  if (upgrade !== '' && route !== undefined) {
    if (!allowsUpgrade(upgrade, route, manager.config.upgrades)) {
      const why = `neither the route nor the connection manager allows the upgrade ${upgrade}`;
      return { ...said, end: { why, status: 403, details: 'upgrade_failed' } };
    }
  }
  return { ...said, ...(yield* explainRoute(parts, route, headers, info)) };
}

// oxlint-disable-next-line require-yield -- an empty list of steps
function* nothingTried(): Steps<{ route: undefined; tried: []; omitted: number }> {
  return { route: undefined, tried: [], omitted: 0 };
}

/** In the order of requests, the router last. */
function explainFilters(
  { parts }: ConnectionManager,
  route: ResolvedRoute | undefined,
): NonNullable<Explanation['filters']> {
  const filters = parts.filters();
  const active = new Set(activeFilters(filters, route));
  const { switches, perFilterConfig } = route?.filterSettings ?? {};
  const all = filters.map((filter) => {
    const { name } = filter;
    const bySwitch = switches?.get(name);
    const takesPart = active.has(filter);
    return {
      name,
      takesPart,
      why: whyActive(takesPart, bySwitch),
      hasRouteSettings: perFilterConfig?.has(name) === true,
    };
  });
  const { name } = parts.terminal;
  return [...all, { name, takesPart: true, why: 'the last one', hasRouteSettings: false }];
}

function whyActive(takesPart: boolean, bySwitch: boolean | undefined): string {
  if (bySwitch === undefined) {
    return takesPart ? 'on for every request' : 'off unless a route turns it on';
  }
  return takesPart ? 'the route has settings for it' : 'the route turns it off';
}

function* explainRoute(
  parts: ExplainedManager,
  route: ResolvedRoute | undefined,
  headers: HeaderMap,
  info: StreamInfo,
): Steps<ExplainedStream> {
  if (route === undefined) {
    const end = { why: 'no route fits', status: 404, details: 'route_not_found' };
    return { end };
  }
  const { kind, routeName } = route;
  if (kind === 'redirect') {
    const location = route.location(headers, info);
    return { action: { kind, routeName, status: route.status, location } };
  }
  if (kind === 'direct_response') {
    const location = route.location(headers, info);
    const { status } = route;
    return { action: { kind, routeName, status, ...(location !== undefined && { location }) } };
  }
  const action = explainForwarding(parts, route, headers, info);
  const cluster = parts.clusters.get(route.clusterName);
  if (cluster === undefined) {
    const status = route.action.clusterNotFoundStatus;
    const why = `there is no cluster ${JSON.stringify(route.clusterName)}`;
    return { action, end: { why, status, details: 'cluster_not_found' } };
  }
  const explained = yield* explainCluster(cluster, route.subset);
  if (explained.omitted > 0 || explained.hosts.some(({ mayBeChosen }) => mayBeChosen)) {
    return { action, cluster: explained };
  }
  const end = { why: 'no host may be asked', status: 503, details: 'no_healthy_upstream' };
  return { action, cluster: explained, end };
}

function explainForwarding(
  { headerOptions }: ExplainedManager,
  route: ClusterRoute,
  headers: HeaderMap,
  info: StreamInfo,
): ExplainedAction {
  const before = snapshotOf(headers);
  const { action } = route;
  const maxStreamDurationMs = streamDurationMs(route, headers);
  const deadline = new RequestDeadline();
  const askedOn = ['x-envoy-retry-on', 'x-envoy-retry-grpc-on'].flatMap(
    (name) => headers.get(name)?.split(',') ?? [],
  );
  finalizeRequest(route, headers, headerOptions, { info, deadline });
  const retries = takeRequestRetries(route.retryPolicy, headers);
  return {
    kind: 'cluster',
    routeName: route.routeName,
    ...choiceOf(route),
    priority: action.priority,
    timeoutMs: deadline.globalMs,
    ...(deadline.perTryMs > 0 && { perTryTimeoutMs: deadline.perTryMs }),
    ...(action.idleTimeoutMs !== undefined && { idleTimeoutMs: action.idleTimeoutMs }),
    ...(maxStreamDurationMs !== undefined && { maxStreamDurationMs }),
    ...(retries !== undefined && {
      retries: { on: [...retries.policy.retryOn, ...askedOn], attempts: retries.retries },
    }),
    ...(action.mirrorPolicies.length > 0 && {
      mirrors: action.mirrorPolicies.map(
        ({ cluster, clusterHeader }) => cluster ?? `named by header ${clusterHeader}`,
      ),
    }),
    changes: changesBetween(before, snapshotOf(headers)),
  };
}

/** How the cluster was chosen, where the route does not simply name it. */
function choiceOf({ action: { cluster } }: ClusterRoute): Pick<ExplainedAction, 'choice'> {
  switch (cluster.kind) {
    case 'cluster':
      return {};
    case 'cluster_header':
      return { choice: `named by header ${cluster.header}` };
    case 'script':
      return { choice: 'named by a script' };
    case 'weighted': {
      const weights = cluster.clusters.map(({ name, clusterHeader, weight }) => {
        return `${clusterHeader === undefined ? name : `header ${clusterHeader}`} ${weight}`;
      });
      return { choice: `drawn by weight of ${weights.join(', ')}` };
    }
  }
}
