/** Resolves the cache of names of dynamic forward proxies. */
import type { SocketAddress } from '../../../shared/api/generated/envoy/config/core/v3/address.ts';
import type {
  DnsCacheCircuitBreakers,
  DnsCacheConfig,
} from '../../../shared/api/generated/envoy/extensions/common/dynamic_forward_proxy/v3/dns_cache.ts';
import { printAuthority } from '../../../shared/authority.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { DnsCacheSettings } from '../resolved-bootstrap.ts';
import type { Scope } from '../scope.ts';
import { durationMsOr } from '../values.ts';
import { resolveRates, type DnsDefaults } from './dns-cluster.ts';
import { resolveDnsResolver } from './dns-resolver.ts';

const FIELDS = knownFields<DnsCacheConfig>([
  'name',
  'dns_lookup_family',
  'dns_refresh_rate',
  'dns_min_refresh_rate',
  'host_ttl',
  'max_hosts',
  'disable_dns_refresh_on_failure',
  'dns_failure_refresh_rate',
  'dns_cache_circuit_breaker',
  'use_tcp_for_dns_lookups',
  'dns_resolution_config',
  'typed_dns_resolver_config',
  'preresolve_hostnames',
  'dns_query_timeout',
]);
const BREAKER_FIELDS = knownFields<DnsCacheCircuitBreakers>(['max_pending_requests']);

const REFRESH_MS = 60_000;
const MIN_REFRESH_MS = 5_000;
const HOST_TTL_MS = 300_000;
const QUERY_TIMEOUT_MS = 5_000;
const HOSTS_MAX = 1024;
const PENDING_MAX = 1024;
/** A host is told of so often within its time to live. */
const TOUCHES_PER_TTL = 4;

export function resolveDnsCache(
  message: DnsCacheConfig,
  defaults: DnsDefaults,
  scope: Scope,
): DnsCacheSettings {
  refuseOtherFields(message, FIELDS, scope);
  const { dns_cache_circuit_breaker: breaker = {} } = message;
  refuseOtherFields(breaker, BREAKER_FIELDS, scope.at('dns_cache_circuit_breaker'));
  const ownResolver =
    message.typed_dns_resolver_config !== undefined ||
    message.dns_resolution_config !== undefined ||
    message.use_tcp_for_dns_lookups === true;
  const hostTtlMs = durationMsOr(message.host_ttl, HOST_TTL_MS);
  return {
    name: message.name ?? '',
    dns: {
      ...resolveRates(message, scope),
      refreshMs: durationMsOr(message.dns_refresh_rate, REFRESH_MS),
      minRefreshMs: durationMsOr(message.dns_min_refresh_rate, MIN_REFRESH_MS),
      resolver: ownResolver ? resolveDnsResolver(message, scope) : defaults.resolver,
    },
    hostTtlMs,
    touchIntervalMs: hostTtlMs / TOUCHES_PER_TTL,
    maxHosts: message.max_hosts ?? HOSTS_MAX,
    maxPending: breaker.max_pending_requests ?? PENDING_MAX,
    queryTimeoutMs: durationMsOr(message.dns_query_timeout, QUERY_TIMEOUT_MS),
    noRefreshAfterFailure: message.disable_dns_refresh_on_failure ?? false,
    preresolved: (message.preresolve_hostnames ?? []).map(preresolved),
  };
}

function preresolved({
  address = '',
  port_value: port = 0,
}: SocketAddress): DnsCacheSettings['preresolved'][number] {
  return { host: printAuthority({ host: address, port }), port };
}
