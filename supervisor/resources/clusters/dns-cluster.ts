/**
 * Resolves clusters whose hosts are found by name: STRICT_DNS, LOGICAL_DNS and envoy.cluster.dns.
 */
import type { Bootstrap } from '../../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import type { Cluster } from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type { Endpoint } from '../../../shared/api/generated/envoy/config/endpoint/v3/endpoint_components.ts';
import type { DnsCluster } from '../../../shared/api/generated/envoy/extensions/clusters/dns/v3/dns_cluster.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type {
  DnsDiscovery,
  DnsFamily,
  DnsSettings,
  DnsTarget,
  ResolverSettings,
} from '../../resolved/resolved-bootstrap.ts';
import type { Scope } from '../scope.ts';
import { durationMs, durationMsOr, optional } from '../values.ts';
import { resolveDnsResolver, type DnsResolverFields } from './dns-resolver.ts';
import { resolveEndpoints } from './load-assignment.ts';
import { ENDPOINT_FIELDS, endpointInfo, type EndpointInfo } from './endpoint.ts';

/** The resolver of clusters that name none: the bootstrap's. */
export interface DnsDefaults {
  readonly resolver: ResolverSettings;
}

interface Place {
  readonly defaults: DnsDefaults;
  /** The cluster's own. */
  readonly place: Scope;
}

const REFRESH_MS = 5_000;
/** The maximum of `dns_failure_refresh_rate` where it has none, in base intervals. */
const FAILURE_MAX_FACTOR = 10;

const EXTENSION_FIELDS = knownFields<DnsCluster>([
  'dns_refresh_rate',
  'dns_failure_refresh_rate',
  'respect_dns_ttl',
  'dns_jitter',
  'typed_dns_resolver_config',
  'dns_lookup_family',
  'all_addresses_in_single_endpoint',
  'dns_min_refresh_rate',
]);

const APPLE_RESOLVER = '/envoy.extensions.network.dns_resolver.apple.v3.AppleDnsResolverConfig';

/**
 * The resolver that the bootstrap sets for all clusters. Envoy takes one that it does not have as long
 * as nothing has to be looked up.
 */
export function resolveDnsDefaults(bootstrap: Bootstrap, scope: Scope): DnsDefaults {
  const { typed_dns_resolver_config: typed, ...others } = bootstrap;
  if (typed?.typed_config?.['@type']?.toString().endsWith(APPLE_RESOLVER) !== true) {
    return { resolver: resolveDnsResolver(bootstrap, scope) };
  }
  scope
    .at('typed_dns_resolver_config')
    .warning(
      'no_effect',
      "the DNS resolver of Apple's systems is not here: the resolver of this system is asked",
    );
  return { resolver: resolveDnsResolver(others, scope) };
}

/** The older form: settings beside the cluster's other fields. */
export function resolveDnsCluster(
  message: Cluster,
  isLogical: boolean,
  { defaults, place }: Place,
): DnsDiscovery {
  const ownResolver =
    message.typed_dns_resolver_config !== undefined ||
    message.dns_resolution_config !== undefined ||
    (message.dns_resolvers ?? []).length > 0;
  const resolver = ownResolver ? resolveDnsResolver(message, place) : defaults.resolver;
  return {
    kind: 'dns',
    isLogical,
    targets: resolveTargets(message, isLogical, place),
    settings: { ...resolveRates(message, place), resolver },
  };
}

/**
 * The newer form: a message of its own, whose resolver may still be the cluster's or the
 * bootstrap's.
 */
export function resolveDnsExtension(
  own: { readonly config: DnsCluster; readonly scope: Scope; readonly isLogical: boolean },
  message: Cluster,
  { defaults, place }: Place,
): DnsDiscovery {
  const { config, scope, isLogical } = own;
  refuseOtherFields(config, EXTENSION_FIELDS, scope);
  const fields: DnsResolverFields =
    config.typed_dns_resolver_config === undefined
      ? {}
      : { typed_dns_resolver_config: config.typed_dns_resolver_config };
  const resolver =
    config.typed_dns_resolver_config === undefined
      ? defaults.resolver
      : resolveDnsResolver(fields, scope);
  return {
    kind: 'dns',
    isLogical,
    targets: resolveTargets(message, isLogical, place),
    settings: { ...resolveRates(config, scope), resolver },
  };
}

type RateFields = Pick<
  DnsCluster,
  | 'dns_refresh_rate'
  | 'dns_failure_refresh_rate'
  | 'respect_dns_ttl'
  | 'dns_jitter'
  | 'dns_lookup_family'
  | 'dns_min_refresh_rate'
>;

/** How often names are looked up, in which families. */
export function resolveRates(message: RateFields, scope: Scope): Omit<DnsSettings, 'resolver'> {
  return {
    family: family(message.dns_lookup_family),
    refreshMs: durationMsOr(message.dns_refresh_rate, REFRESH_MS),
    ...optional('failure', failureRate(message.dns_failure_refresh_rate, scope)),
    jitterMs: durationMsOr(message.dns_jitter, 0),
    respectsTtl: message.respect_dns_ttl ?? false,
    minRefreshMs: durationMsOr(message.dns_min_refresh_rate, 0),
  };
}

function failureRate(
  message: RateFields['dns_failure_refresh_rate'],
  scope: Scope,
): DnsSettings['failure'] {
  if (message?.base_interval === undefined) return undefined;
  const baseMs = durationMs(message.base_interval);
  const maxMs = durationMsOr(message.max_interval, baseMs * FAILURE_MAX_FACTOR);
  if (maxMs < baseMs) {
    scope
      .at('dns_failure_refresh_rate', 'max_interval')
      .error(
        'conflict',
        'dns_failure_refresh_rate must have max_interval greater than or equal to the base_interval',
      );
  }
  return { baseMs, maxMs };
}

function family(value: RateFields['dns_lookup_family']): DnsFamily {
  switch (value) {
    case 'V4_ONLY':
    case 'V6_ONLY':
    case 'V4_PREFERRED':
    case 'ALL':
      return value;
    default:
      return 'AUTO';
  }
}

function resolveTargets(message: Cluster, isLogical: boolean, scope: Scope): readonly DnsTarget[] {
  const kind = isLogical ? 'LOGICAL_DNS' : 'STRICT_DNS';
  const place = scope.at('load_assignment');
  const localities = message.load_assignment?.endpoints ?? [];
  if (isLogical && (localities.length !== 1 || localities[0]?.lb_endpoints?.length !== 1)) {
    place.error(
      'conflict',
      'LOGICAL_DNS clusters must have a single locality_lb_endpoint and a single lb_endpoint',
    );
  }
  return resolveEndpoints(message.load_assignment, place, (endpoint, locality, placeOf) => {
    const at = placeOf();
    const facts = endpointInfo(endpoint, locality, at);
    return resolveTarget(endpoint.endpoint ?? {}, facts, { scope: at.at('endpoint'), kind });
  });
}

/** A pipe or no address at all is a name that nothing has, as in Envoy. */
function resolveTarget(
  endpoint: Endpoint,
  facts: EndpointInfo,
  { scope, kind }: { readonly scope: Scope; readonly kind: string },
): DnsTarget {
  refuseOtherFields(endpoint, ENDPOINT_FIELDS, scope);
  const {
    address: name = '',
    port_value: port = 0,
    resolver_name: resolver,
  } = endpoint.address?.socket_address ?? {};
  if (resolver !== undefined) {
    scope
      .at('address', 'socket_address', 'resolver_name')
      .error('conflict', `${kind} clusters must NOT have a custom resolver name set`);
  }
  const hostname = facts.hostname === '' ? name : facts.hostname;
  return { name, port, host: { ...facts, hostname } };
}
