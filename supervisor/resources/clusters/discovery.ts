/**
 * Where a cluster's hosts come from: written in the configuration, found by name, or refused by
 * name.
 */
import type {
  Cluster,
  Cluster_CustomClusterType as CustomType,
} from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type { ClusterConfig as AggregateConfig } from '../../../shared/api/generated/envoy/extensions/clusters/aggregate/v3/cluster.ts';
import type { ClusterConfig as ForwardProxyConfig } from '../../../shared/api/generated/envoy/extensions/clusters/dynamic_forward_proxy/v3/cluster.ts';
import type { ScriptCluster } from '../../../shared/api/generated/sluice/clusters/script/v1/script.ts';
import type { DnsCluster } from '../../../shared/api/generated/envoy/extensions/clusters/dns/v3/dns_cluster.ts';
import { resolveConfigSource } from '../config-source.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Discovery } from '../../resolved/resolved-bootstrap.ts';
import type { Scope } from '../scope.ts';
import { resolveAggregate, resolveOriginalDst } from '../balancing/provided-clusters.ts';
import { SCRIPT_CLUSTER_TYPE } from '../../scripts/find-scripts.ts';
import { resolveScriptCluster } from './script-cluster.ts';
import { resolveForwardProxy } from './forward-proxy-cluster.ts';
import { resolveDnsCluster, resolveDnsExtension, type DnsDefaults } from './dns-cluster.ts';

type Make = (message: Cluster, defaults: DnsDefaults, place: Scope) => Discovery | undefined;

function dnsExtension(name: string, isLogical: (config: DnsCluster) => boolean) {
  return extension(
    name,
    'envoy.extensions.clusters.dns.v3.DnsCluster',
    (config: DnsCluster, scope): Make =>
      (message, defaults, place) =>
        resolveDnsExtension({ config, scope, isLogical: isLogical(config) }, message, {
          defaults,
          place,
        }),
  );
}

export const CLUSTER_TYPES = new ExtensionRegistry<Make>('envoy.clusters', 'cluster type', [
  dnsExtension('envoy.cluster.dns', (config) => config.all_addresses_in_single_endpoint === true),
  extension(
    'envoy.clusters.aggregate',
    'envoy.extensions.clusters.aggregate.v3.ClusterConfig',
    (config: AggregateConfig, scope): Make =>
      () =>
        resolveAggregate(config, scope),
  ),
  extension(
    'envoy.clusters.dynamic_forward_proxy',
    'envoy.extensions.clusters.dynamic_forward_proxy.v3.ClusterConfig',
    (config: ForwardProxyConfig, scope): Make =>
      (message, defaults, place) =>
        resolveForwardProxy(config, scope, { message, place, defaults }),
  ),
  extension(
    'sluice.clusters.script',
    SCRIPT_CLUSTER_TYPE,
    (config: ScriptCluster, scope): Make =>
      ({ name = '' }) =>
        resolveScriptCluster(config, name, scope),
  ),
]);

/** Older names of the types with settings of their own; without these they read the cluster's. */
const NAMED_TYPES: ReadonlyMap<string, NonNullable<Cluster['type']>> = new Map([
  ['envoy.cluster.static', 'STATIC'],
  ['envoy.cluster.strict_dns', 'STRICT_DNS'],
  ['envoy.cluster.logical_dns', 'LOGICAL_DNS'],
  ['envoy.cluster.original_dst', 'ORIGINAL_DST'],
]);

/** Undefined when the hosts are those of `load_assignment`, or after a reported problem. */
export function resolveDiscovery(
  message: Cluster,
  defaults: DnsDefaults,
  scope: Scope,
): Discovery | undefined {
  const { cluster_type: custom, type = 'STATIC', eds_cluster_config: eds } = message;
  if (custom !== undefined) return resolveCustom(custom, message, { defaults, place: scope });
  if (type === 'EDS' && eds?.eds_config === undefined) {
    scope.error('conflict', 'cannot create an EDS cluster without an EDS config');
  } else if (type !== 'EDS' && eds !== undefined) {
    scope.at('eds_cluster_config').error('conflict', 'eds_cluster_config set in a non-EDS cluster');
  }
  return resolveByType(type, message, { defaults, place: scope });
}

interface DiscoveryContext {
  readonly defaults: DnsDefaults;
  /** The cluster's own. */
  readonly place: Scope;
}

function resolveByType(
  type: NonNullable<Cluster['type']>,
  message: Cluster,
  { defaults, place: scope }: DiscoveryContext,
): Discovery | undefined {
  switch (type) {
    case 'STATIC':
      return undefined;
    case 'STRICT_DNS':
    case 'LOGICAL_DNS':
      return resolveDnsCluster(message, type === 'LOGICAL_DNS', { defaults, place: scope });
    case 'EDS':
      return resolveEndpointDiscovery(message, scope);
    case 'ORIGINAL_DST':
      return resolveOriginalDst(message, scope);
    default:
      scope
        .at('type')
        .unsupported(
          `cluster type ${type} is`,
          'there is STATIC, STRICT_DNS, LOGICAL_DNS, EDS and ORIGINAL_DST',
        );
      return undefined;
  }
}

const EDS_FIELDS = knownFields<NonNullable<Cluster['eds_cluster_config']>>([
  'eds_config',
  'service_name',
]);

function resolveEndpointDiscovery(message: Cluster, scope: Scope): Discovery | undefined {
  const { name = '', eds_cluster_config: eds = {} } = message;
  const place = scope.at('eds_cluster_config');
  refuseOtherFields(eds, EDS_FIELDS, place);
  if (eds.eds_config === undefined) return undefined;
  const source = resolveConfigSource(eds.eds_config, place.at('eds_config'));
  if (source === undefined) return undefined;
  const { service_name: service = '' } = eds;
  return { kind: 'endpoints', source, serviceName: service === '' ? name : service };
}

function resolveCustom(
  custom: CustomType,
  message: Cluster,
  context: DiscoveryContext,
): Discovery | undefined {
  const { defaults, place } = context;
  const at = place.at('cluster_type');
  if (custom.typed_config !== undefined) {
    return CLUSTER_TYPES.resolve(custom, at)?.(message, defaults, place);
  }
  const { name = '' } = custom;
  const named = NAMED_TYPES.get(name);
  if (named !== undefined) return resolveByType(named, message, context);
  at.error(
    'extension',
    `Didn't find a registered cluster factory implementation for name: '${name}'`,
    `there is ${[...NAMED_TYPES.keys()].join(', ')}; others need typed_config`,
  );
  return undefined;
}

/** Whether the hosts are those of `load_assignment`. */
export function isStatic({ cluster_type: custom, type = 'STATIC' }: Cluster): boolean {
  if (custom === undefined) return type === 'STATIC';
  return custom.typed_config === undefined && NAMED_TYPES.get(custom.name ?? '') === 'STATIC';
}
