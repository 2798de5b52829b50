/**
 * What HTTP filters are made with, wherever they stand: in a connection manager, or before the codec
 * of attempts.
 */
import type { ClusterResource } from '../../shared/resources/clusters/cluster.ts';
import type { HttpFilter } from '../../shared/resources/filters/http-filters.ts';
import { SharedCount } from '../loop/shared-count.ts';
import { sharedLimits } from '../filters/common/token-bucket.ts';
import type { FilterContext } from '../filters/filter-context.ts';
import { makeFilterFactory } from '../filters/http-filters.ts';
import { bufferLimit } from '../net/write-blocks.ts';
import type { FilterFactory } from '../stream/filter.ts';
import type { AttemptFilterSet } from '../upstream/cluster-context.ts';
import type { CompilerContext } from './compiler-context.ts';

type PartsOfPlace =
  | 'statPrefix'
  | 'statScope'
  | 'countRequestTooLarge'
  | 'countResponseTooLarge'
  | 'bufferLimitBytes'
  | 'missingRoutes'
  | 'onBlock'
  | 'onRelease';

/** What is the same in all places; `owner` names whose limits the filters keep. */
export function filterParts(
  context: CompilerContext,
  owner: string,
): Omit<FilterContext, PartsOfPlace> {
  const { env, loop, runtime } = context;
  return {
    loop,
    stats: env.stats,
    runtime,
    isHealthCheckFailed: () => context.drain.isHealthCheckFailed,
    compressorOffers: new WeakMap(),
    ...viewsOf(context.clusters),
    grpc: context.grpcServices,
    ...sharedOf(context),
    ...processOf(env),
    ...sharedLimits(() => context.pages.rateLimitPage(), owner),
    sharedCount: (name) => new SharedCount(name, context.pages),
  };
}

export function makeFilterFactories(
  filters: readonly HttpFilter[],
  context: FilterContext,
): readonly FilterFactory[] {
  return filters.map((filter) => {
    const factory = makeFilterFactory(filter, context);
    return filter.isOffByDefault === true ? offByDefault(factory) : factory;
  });
}

/** Those of a router, for attempts at clusters that have none themselves. */
export function makeAttemptFilters(
  filters: readonly HttpFilter[] = [],
  context: FilterContext,
): readonly FilterFactory[] {
  return makeFilterFactories(filters, {
    ...context,
    ...UNCOUNTED,
    compressorOffers: new WeakMap(),
  });
}

/** Those of a cluster, which count by its name. */
export function makeClusterFilters(
  { name, upstreamHttp, perConnectionBufferLimitBytes }: ClusterResource,
  statPrefix: string,
  context: CompilerContext,
): AttemptFilterSet {
  const releases: (() => void)[] = [];
  const factories = makeFilterFactories(upstreamHttp.filters ?? [], {
    ...filterParts(context, `cluster/${name}`),
    ...UNCOUNTED,
    statPrefix,
    statScope: statPrefix,
    bufferLimitBytes: bufferLimit(perConnectionBufferLimitBytes),
    missingRoutes: () => undefined,
    onBlock: (base) => void releases.push(() => context.env.stats.releaseBlock(base)),
    onRelease: (act) => void releases.push(act),
  });
  const release = (): void => {
    for (const letGo of releases) letGo();
  };
  return { factories, release };
}

/** Connection managers count messages that are too large for them; attempts do not, as in Envoy. */
const UNCOUNTED = {
  countRequestTooLarge: () => undefined,
  countResponseTooLarge: () => undefined,
};

/** What filters may know of their process. */
function processOf({
  heritage,
  log,
}: CompilerContext['env']): Pick<
  FilterContext,
  'node' | 'nodeCluster' | 'nodeMetadata' | 'isFirstWorker' | 'log'
> {
  return {
    node: heritage.node,
    nodeCluster: heritage.node.cluster,
    nodeMetadata: heritage.node.metadata,
    isFirstWorker: heritage.workerIndex === 0,
    log,
  };
}

/** What filters may know of clusters. */
function viewsOf(
  clusters: CompilerContext['clusters'],
): Pick<
  FilterContext,
  'callCluster' | 'clusterHealth' | 'clusterMetadata' | 'clusterStatPrefix' | 'wantedHosts'
> {
  return {
    clusterHealth: (name) => clusters.get(name)?.health(),
    clusterMetadata: (name) => clusters.get(name)?.resource.metadata,
    clusterStatPrefix: (name) => clusters.get(name)?.stats.prefix,
    wantedHosts: (name) => clusters.get(name)?.wantedHosts,
    callCluster: (name) => clusters.get(name),
  };
}

function offByDefault(factory: FilterFactory): FilterFactory {
  const { name } = factory;
  return { name, isOffByDefault: true, create: (callbacks) => factory.create(callbacks) };
}

/** What the filters of a worker have together. */
function sharedOf({
  taps,
  services,
  routeDemand,
  extensions,
  scripts,
  quotas,
  startTasks,
  secrets,
}: CompilerContext): Pick<
  FilterContext,
  | 'taps'
  | 'services'
  | 'routeDemand'
  | 'extensions'
  | 'scripts'
  | 'quotas'
  | 'startTasks'
  | 'secrets'
> {
  return { taps, services, routeDemand, extensions, scripts, quotas, startTasks, secrets };
}
