/** Resolves where a route sends its requests: one cluster, a header that names it, or a choice. */
import { meantName } from '../meant-name.ts';
import type {
  RouteAction,
  WeightedCluster as WeightedClustersMessage,
  WeightedCluster_ClusterWeight as ClusterWeight,
} from '../../../shared/api/generated/envoy/config/route/v3/route_components.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import type { ClusterSpecifier, WeightedCluster } from '../../../shared/resources/routes/route.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { asciiLower } from '../matchers/string-matcher.ts';
import { resolveMetadata } from '../metadata.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';
import { resolveClusterPlugin } from './cluster-plugins.ts';
import type { ClusterReferences } from './cluster-references.ts';
import { resolveHeaderChanges } from './header-changes.ts';
import { resolvePerFilterConfig } from './per-filter-config.ts';

const WEIGHTED_FIELDS = knownFields<WeightedClustersMessage>([
  'clusters',
  'total_weight',
  'runtime_key_prefix',
  'header_name',
  'use_hash_policy',
]);
const WEIGHT_FIELDS = knownFields<ClusterWeight>([
  'name',
  'cluster_header',
  'weight',
  'metadata_match',
  'request_headers_to_add',
  'request_headers_to_remove',
  'response_headers_to_add',
  'response_headers_to_remove',
  'typed_per_filter_config',
  'host_rewrite_literal',
]);

/** Undefined after a reported problem. */
export function resolveClusterSpecifier(
  action: RouteAction,
  references: ClusterReferences,
  scope: Scope,
): ClusterSpecifier | undefined {
  if (action.cluster !== undefined) {
    references.check(action.cluster, 'route: unknown cluster', scope.at('cluster'));
    return { kind: 'cluster', name: action.cluster };
  }
  if (action.cluster_header !== undefined) {
    return { kind: 'cluster_header', header: asciiLower(action.cluster_header) };
  }
  const { inline_cluster_specifier_plugin: inline, cluster_specifier_plugin: named } = action;
  if (inline !== undefined) {
    return resolveClusterPlugin(inline, scope.at('inline_cluster_specifier_plugin'));
  }
  if (named !== undefined) return namedPlugin(named, scope);
  if (action.weighted_clusters === undefined) return undefined;
  return resolveWeighted(action.weighted_clusters, references, scope.at('weighted_clusters'));
}

/** The route configuration holds it. */
function namedPlugin(name: string, scope: Scope): ClusterSpecifier | undefined {
  const plugins = scope.context.clusterPlugins;
  if (plugins?.has(name) !== true) {
    const text = `Unknown cluster specifier plugin name: ${name} is used in the route`;
    const hint = meantName(name, plugins?.keys() ?? []);
    scope.at('cluster_specifier_plugin').error('reference', text, hint);
  }
  return plugins?.get(name);
}

function resolveWeighted(
  message: WeightedClustersMessage,
  references: ClusterReferences,
  scope: Scope,
): ClusterSpecifier {
  refuseOtherFields(message, WEIGHTED_FIELDS, scope);
  const prefix = message.runtime_key_prefix ?? '';
  const clusters = (message.clusters ?? []).map((weight, index) =>
    resolveWeight(weight, prefix, references, scope.at('clusters', index)),
  );
  const totalWeight = clusters.reduce((sum, { weight }) => sum + weight, 0);
  if (totalWeight === 0) {
    scope.error('conflict', 'Sum of weights in the weighted_cluster must be greater than 0.');
  } else if (totalWeight > 0xffff_ffff) {
    scope.error('conflict', `The sum of weights of all weighted clusters exceeds ${0xffff_ffff}`);
  }
  return {
    kind: 'weighted',
    clusters,
    totalWeight,
    ...optional('runtimeKeyPrefix', prefix === '' ? undefined : prefix),
    ...optional(
      'headerName',
      message.header_name === undefined ? undefined : asciiLower(message.header_name),
    ),
    useHashPolicy: message.use_hash_policy ?? false,
  };
}

function resolveWeight(
  message: ClusterWeight,
  prefix: string,
  references: ClusterReferences,
  scope: Scope,
): WeightedCluster {
  refuseOtherFields(message, WEIGHT_FIELDS, scope);
  const { name = '', cluster_header: header = '', host_rewrite_literal: host } = message;
  if (name === '' && header === '') {
    scope.error('conflict', 'At least one of name or cluster_header need to be specified');
  } else if (name !== '' && header !== '') {
    scope.error('conflict', 'Only one of name or cluster_header can be specified');
  } else if (name !== '') {
    references.check(name, 'route: unknown weighted cluster', scope.at('name'));
  }
  if (message.weight === undefined) scope.error('conflict', "Field 'weight' is missing");
  const runtimeKey = prefix === '' ? undefined : `${prefix}.${name}`;
  return {
    name,
    ...optional('clusterHeader', header === '' ? undefined : asciiLower(header)),
    weight: message.weight ?? 0,
    ...optional('runtimeKey', runtimeKey),
    ...resolveHeaderChanges(message, scope),
    ...optional('hostRewriteLiteral', host === undefined ? undefined : toByteString(host)),
    typedPerFilterConfig: resolvePerFilterConfig(message.typed_per_filter_config, scope),
    ...optional('metadataMatch', resolveMetadata(message.metadata_match)),
  };
}
