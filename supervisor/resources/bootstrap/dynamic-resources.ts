/** Resolves `dynamic_resources`: where listeners and clusters come from beside the bootstrap. */
import type {
  Bootstrap,
  Bootstrap_DynamicResources as DynamicResources,
} from '../../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import type { ConfigSource as ConfigSourceMessage } from '../../../shared/api/generated/envoy/config/core/v3/config_source.ts';
import { type ConfigSource } from '../../resolved/config-source.ts';
import {
  resolveCollectionSource,
  resolveConfigSource,
  resolveAggregatedSource,
} from '../config-source.ts';
import { checkConfigSource, checkGrpcTarget } from '../check-config-source.ts';
import {
  parseLocator,
  ResourceLocatorError,
  type ResourceLocator,
} from '../../resolved/resource-locator.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { NamedSecret } from '../../resolved/named-secret.ts';
import type {
  DynamicSources,
  NodeIdentity,
  ResolvedCluster,
  ResolvedListener,
} from '../../resolved/resolved-bootstrap.ts';
import type { Scope } from '../scope.ts';
import type { StaticResources } from '../../store/static-store.ts';
import { optional } from '../values.ts';

const FIELDS = knownFields<DynamicResources>([
  'lds_config',
  'cds_config',
  'ads_config',
  'lds_resources_locator',
  'cds_resources_locator',
]);
const CLUSTER = 'envoy.config.cluster.v3.Cluster';
const LISTENER = 'envoy.config.listener.v3.Listener';

export function resolveDynamicResources(
  { dynamic_resources: message = {} }: Bootstrap,
  isStaticCluster: (name: string) => boolean,
  root: Scope,
): DynamicSources {
  const scope = root.at('dynamic_resources');
  refuseOtherFields(message, FIELDS, scope);
  const { lds_config: lds, cds_config: cds, ads_config: ads } = message;
  const clusterCollection = resolveLocator(message, 'cds_resources_locator', CLUSTER, scope);
  const listenerCollection = resolveLocator(message, 'lds_resources_locator', LISTENER, scope);
  const sourceOf = (
    source: ConfigSourceMessage | undefined,
    collection: ResourceLocator | undefined,
    place: Scope,
  ): ConfigSource | undefined => {
    if (collection !== undefined) return resolveCollectionSource(source ?? {}, place);
    return source && resolveConfigSource(source, place);
  };
  const clusters = sourceOf(cds, clusterCollection, scope.at('cds_config'));
  const listeners = sourceOf(lds, listenerCollection, scope.at('lds_config'));
  const aggregated = ads && resolveAggregatedSource(ads, scope.at('ads_config'));
  if (clusters !== undefined) checkConfigSource(clusters, isStaticCluster, scope.at('cds_config'));
  if (listeners !== undefined && (listeners.kind !== 'path' || !root.context.isForValidation)) {
    checkConfigSource(listeners, isStaticCluster, scope.at('lds_config'));
  }
  if (aggregated !== undefined) {
    checkGrpcTarget(aggregated.target, isStaticCluster, scope.at('ads_config'));
  }
  return {
    ...optional('clusters', clusters),
    ...optional('clusterCollection', clusterCollection),
    ...optional('listeners', listeners),
    ...optional('listenerCollection', listenerCollection),
    ...optional('aggregated', aggregated),
  };
}

/** `type`: the full name of the messages that it must be of. */
function resolveLocator(
  message: DynamicResources,
  field: 'cds_resources_locator' | 'lds_resources_locator',
  type: string,
  outer: Scope,
): ResourceLocator | undefined {
  const text = message[field] ?? '';
  if (text === '') return undefined;
  const scope = outer.at(field);
  if (/^(http|file):/.test(text)) {
    scope.unsupported('collections by http: and file: are', 'name one by xdstp:');
    return undefined;
  }
  if (text.includes('#')) {
    scope.unsupported('directives after # are');
    return undefined;
  }
  try {
    const locator = parseLocator(text);
    if (locator.type === type) return locator;
    scope.error('conflict', `xdstp:// type does not match ${type} in ${text}`);
  } catch (error) {
    if (!(error instanceof ResourceLocatorError)) throw error;
    scope.error('conflict', error.message);
  }
  return undefined;
}

/** Where that comes from which clusters and listeners name instead of holding it. */
export function checkNamedSources(
  { clusters, listeners }: StaticResources,
  isStaticCluster: (name: string) => boolean,
  scope: Scope,
): void {
  for (const [index, { resolved }] of clusters.entries()) {
    checkSources(sourcesOfCluster(resolved), isStaticCluster, scope.at('clusters', index));
  }
  for (const [index, { resolved }] of listeners.entries()) {
    checkSources(sourcesOfListener(resolved), isStaticCluster, scope.at('listeners', index));
  }
}

export function sourcesOfCluster({
  discovery,
  namedFilters = [],
  secrets,
}: ResolvedCluster): NamedSources {
  const ofHosts = discovery?.kind === 'endpoints' ? [discovery.source] : [];
  return { sources: [...ofHosts, ...namedFilters.map(({ source }) => source)], secrets };
}

export function sourcesOfListener({
  namedRoutes,
  namedScopes,
  namedFilters,
  secrets,
}: ResolvedListener): NamedSources {
  const named = [...namedRoutes, ...namedScopes, ...namedFilters];
  const ofRoutes = namedScopes.flatMap(({ routesSource }) => routesSource ?? []);
  return { sources: [...named.map(({ source }) => source), ...ofRoutes], secrets };
}

interface NamedSources {
  readonly sources: readonly ConfigSource[];
  readonly secrets: readonly NamedSecret[];
}

/**
 * Sources of secrets are not looked at: their clusters may come later, until then each attempt to
 * ask them fails.
 */
export function checkSources(
  { sources }: Pick<NamedSources, 'sources'>,
  isStaticCluster: (name: string) => boolean,
  scope: Scope,
): void {
  for (const source of sources) checkConfigSource(source, isStaticCluster, scope);
}

/** What is there that asks a control plane. */
interface SourceUses {
  readonly dynamic: DynamicSources;
  readonly resources: StaticResources;
  readonly usesRuntime: boolean;
}

/** A control plane must be told whom it serves. */
export function checkNode(node: NodeIdentity, uses: SourceUses, scope: Scope): void {
  if (node.id !== '' && node.cluster !== '') return;
  const type = firstUse(uses);
  if (type === undefined) return;
  scope
    .at('node')
    .error(
      'conflict',
      `type.googleapis.com/${type}: node 'id' and 'cluster' are required. Set it either in 'node' config or via --service-node and --service-cluster options.`,
    );
}

function firstUse({ dynamic, resources, usesRuntime }: SourceUses): string | undefined {
  if (usesRuntime) return 'envoy.service.runtime.v3.Runtime';
  const usesEndpoints = resources.clusters.some(
    ({ resolved: { discovery } }) =>
      discovery?.kind === 'endpoints' && discovery.source.kind !== 'script',
  );
  if (usesEndpoints) return 'envoy.config.endpoint.v3.ClusterLoadAssignment';
  if (dynamic.clusters !== undefined || dynamic.aggregated !== undefined) {
    return 'envoy.config.cluster.v3.Cluster';
  }
  const usesRoutes = resources.listeners.some(({ resolved }) => resolved.namedRoutes.length > 0);
  if (usesRoutes) return 'envoy.config.route.v3.RouteConfiguration';
  return dynamic.listeners === undefined ? undefined : 'envoy.config.listener.v3.Listener';
}
