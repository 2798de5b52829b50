/** Resolves the cache of names of dynamic forward proxies. */
import type { SocketAddress } from '../../../shared/api/generated/envoy/config/core/v3/address.ts';
import type {
  DnsCacheCircuitBreakers,
  DnsCacheConfig,
} from '../../../shared/api/generated/envoy/extensions/common/dynamic_forward_proxy/v3/dns_cache.ts';
import type { FileBasedKeyValueStoreConfig } from '../../../shared/api/generated/envoy/extensions/key_value/file_based/v3/config.ts';
import type { KeyValueStoreConfig } from '../../../shared/api/generated/envoy/config/common/key_value/v3/config.ts';
import type { AddressMatcher } from '../../../shared/api/generated/envoy/type/matcher/v3/address.ts';
import { printAuthority } from '../../../shared/addresses/authority.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import type {
  AddressFilterSettings,
  DnsCacheSettings,
  KeptNamesSettings,
} from '../../resolved/resolved-bootstrap.ts';
import type { Scope } from '../scope.ts';
import { resolveCidr } from '../http/cidr.ts';
import { durationMsOr, optional } from '../values.ts';
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
  'key_value_config',
  'resolved_address_filter',
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
    ...optional('addressFilter', resolveAddressFilter(message.resolved_address_filter, scope)),
    ...optional('kept', resolveKept(message.key_value_config, scope.at('key_value_config'))),
    preresolved: (message.preresolve_hostnames ?? []).map(preresolved),
  };
}

const FILE_FIELDS = knownFields<FileBasedKeyValueStoreConfig>([
  'filename',
  'flush_interval',
  'max_entries',
]);
const FLUSH_MS = 5_000;
const KEPT_MAX = 1_000;

export const KEY_VALUE_STORES = new ExtensionRegistry<KeptNamesSettings>(
  'envoy.common.key_value',
  'key value store',
  [
    extension(
      'envoy.key_value.file_based',
      'envoy.extensions.key_value.file_based.v3.FileBasedKeyValueStoreConfig',
      (message: FileBasedKeyValueStoreConfig, scope) => {
        refuseOtherFields(message, FILE_FIELDS, scope);
        return {
          path: message.filename ?? '',
          flushMs: durationMsOr(message.flush_interval, FLUSH_MS),
          maxEntries: message.max_entries ?? KEPT_MAX,
        };
      },
    ),
  ],
);

function resolveKept(
  message: KeyValueStoreConfig | undefined,
  scope: Scope,
): KeptNamesSettings | undefined {
  if (message === undefined) return undefined;
  return KEY_VALUE_STORES.resolve(message.config ?? {}, scope.at('config'));
}

function resolveAddressFilter(
  message: AddressMatcher | undefined,
  scope: Scope,
): AddressFilterSettings | undefined {
  if (message === undefined) return undefined;
  const place = scope.at('resolved_address_filter', 'ranges');
  const ranges = (message.ranges ?? []).map((range, at) => resolveCidr(range, place.at(at)));
  return {
    ranges: ranges.filter((range) => range !== undefined),
    isInverted: message.invert_match === true,
  };
}

function preresolved({
  address = '',
  port_value: port = 0,
}: SocketAddress): DnsCacheSettings['preresolved'][number] {
  return { host: printAuthority({ host: address, port }), port };
}
