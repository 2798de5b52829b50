/** Resolves envoy.config.route.v3.RouteConfiguration. */
import type { RouteConfiguration } from '../../../shared/api/generated/envoy/config/route/v3/route.ts';
import type {
  RouteConfigurationResource,
  VirtualHost,
} from '../../../shared/resources/routes/route.ts';
import { atOnce, type Steps } from '../../loop/loop-turns.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { asciiLower } from '../matchers/string-matcher.ts';
import { Scope } from '../scope.ts';
import { optional } from '../values.ts';
import { resolveClusterPlugin } from './cluster-plugins.ts';
import { ClusterReferences } from './cluster-references.ts';
import { DomainCheck } from './domains.ts';
import { resolveHeaderChanges } from './header-changes.ts';
import { resolvePerFilterConfig } from './per-filter-config.ts';
import { resolveMirrorPolicies } from './resilience.ts';
import type { RouteScope } from './route.ts';
import { virtualHostInSteps } from './virtual-host.ts';

const FIELDS = knownFields<RouteConfiguration>(
  [
    'name',
    'virtual_hosts',
    'internal_only_headers',
    'response_headers_to_add',
    'response_headers_to_remove',
    'request_headers_to_add',
    'request_headers_to_remove',
    'most_specific_header_mutations_wins',
    'validate_clusters',
    'max_direct_response_body_size_bytes',
    'request_mirror_policies',
    'ignore_port_in_host_matching',
    'ignore_path_parameters_in_path_matching',
    'vhost_header',
    'typed_per_filter_config',
    'cluster_specifier_plugins',
  ],
  ['metadata'],
);

const DIRECT_RESPONSE_BODY_BYTES = 4096;

export interface RouteSource {
  /** Inline routes are checked against the clusters unless they say otherwise; fetched ones not. */
  readonly validatesClusters: boolean;
  readonly isKnownCluster: (name: string) => boolean;
  /** Virtual hosts may come from elsewhere: `vhds`. */
  readonly takesHosts?: boolean;
}

/** As `routeConfigurationInSteps`, for one that stands in a listener. */
export function resolveRouteConfiguration(
  message: RouteConfiguration,
  source: RouteSource,
  outer: Scope,
): RouteConfigurationResource {
  return atOnce(routeConfigurationInSteps(message, source, outer));
}

export function* routeConfigurationInSteps(
  message: RouteConfiguration,
  source: RouteSource,
  outer: Scope,
): Steps<RouteConfigurationResource> {
  const scope = withPlugins(message, outer);
  const { vhds, ...itself } = message;
  const takesHosts = source.takesHosts === true;
  refuseOtherFields(takesHosts ? itself : message, FIELDS, scope);
  const validates = message.validate_clusters ?? source.validatesClusters;
  const limit = message.max_direct_response_body_size_bytes ?? DIRECT_RESPONSE_BODY_BYTES;
  const references = new ClusterReferences(validates ? source.isKnownCluster : undefined);
  const routes: RouteScope = {
    references,
    maxDirectResponseBodyBytes: limit,
    mirrorPolicies: resolveMirrorPolicies(
      message.request_mirror_policies,
      references,
      scope.at('request_mirror_policies'),
    ),
  };
  const name = message.name ?? '';
  const domains = new DomainCheck(name);
  const virtualHosts: VirtualHost[] = [];
  for (const [index, host] of (message.virtual_hosts ?? []).entries()) {
    const place = scope.at('virtual_hosts', index);
    virtualHosts.push(yield* virtualHostInSteps(host, domains, routes, place));
    yield;
  }
  return {
    name,
    virtualHosts,
    ...(takesHosts && vhds !== undefined ? { isOnDemand: true } : {}),
    ...resolveHeaderChanges(message, scope),
    internalOnlyHeaders: (message.internal_only_headers ?? []).map(asciiLower),
    mostSpecificHeaderMutationsWins: message.most_specific_header_mutations_wins ?? false,
    ...resolveWhatIsMatched(message),
    maxDirectResponseBodySizeBytes: limit,
    typedPerFilterConfig: resolvePerFilterConfig(message.typed_per_filter_config, scope),
  };
}

type WhatIsMatched = Pick<
  RouteConfigurationResource,
  'ignorePortInHostMatching' | 'virtualHostHeader' | 'ignorePathParameters'
>;

function resolveWhatIsMatched(message: RouteConfiguration): WhatIsMatched {
  const { vhost_header: header = '', ignore_path_parameters_in_path_matching: ignores } = message;
  return {
    ignorePortInHostMatching: message.ignore_port_in_host_matching ?? false,
    ...optional('virtualHostHeader', header === '' ? undefined : asciiLower(header)),
    ...(ignores === true ? { ignorePathParameters: true } : {}),
  };
}

/** Its routes name the plugins that it holds. */
function withPlugins(
  { cluster_specifier_plugins: plugins }: RouteConfiguration,
  scope: Scope,
): Scope {
  if (plugins === undefined) return scope;
  const clusterPlugins = new Map(
    plugins.map((plugin, index) => [
      plugin.extension?.name ?? '',
      resolveClusterPlugin(plugin, scope.at('cluster_specifier_plugins', index)),
    ]),
  );
  return new Scope({ ...scope.context, clusterPlugins }, scope.place);
}
