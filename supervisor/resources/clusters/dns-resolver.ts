/** Resolves which name servers are asked and how: the typed resolver, or the older fields. */
import type { Address } from '../../../shared/api/generated/envoy/config/core/v3/address.ts';
import type {
  DnsResolutionConfig,
  DnsResolverOptions,
} from '../../../shared/api/generated/envoy/config/core/v3/resolver.ts';
import type { TypedExtensionConfig } from '../../../shared/api/generated/envoy/config/core/v3/extension.ts';
import type { CaresDnsResolverConfig } from '../../../shared/api/generated/envoy/extensions/network/dns_resolver/cares/v3/cares_dns_resolver.ts';
import { printAddress } from '../../../shared/addresses/print-address.ts';
import { resolveAddress } from '../addresses.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { ResolverSettings } from '../../resolved/resolved-bootstrap.ts';
import type { Scope } from '../scope.ts';

/** Where a bootstrap, a cluster or an extension names its resolver. */
export interface DnsResolverFields {
  readonly typed_dns_resolver_config?: TypedExtensionConfig;
  readonly dns_resolution_config?: DnsResolutionConfig;
  readonly dns_resolvers?: readonly Address[];
  readonly use_tcp_for_dns_lookups?: boolean;
}

/** Envoy's own values. */
const TIMEOUT_S = 5;
const TRIES = 4;

const SYSTEM: ResolverSettings = {
  servers: [],
  serversAreFallback: false,
  noSearchDomains: false,
  skipsUnroutable: false,
  usesTcp: false,
  timeoutMs: TIMEOUT_S * 1000,
  tries: TRIES,
};

const CARES_FIELDS = knownFields<CaresDnsResolverConfig>(
  [
    'resolvers',
    'use_resolvers_as_fallback',
    'filter_unroutable_families',
    'dns_resolver_options',
    'query_timeout_seconds',
    'query_tries',
  ],
  [
    // How its sockets and its memory are used, not what they bring.
    'udp_max_queries',
    'rotate_nameservers',
    'edns0_max_payload_size',
    'max_udp_channel_duration',
    'reinit_channel_on_timeout',
    'qcache_max_ttl',
  ],
);

export const DNS_RESOLVERS = new ExtensionRegistry<ResolverSettings>(
  'envoy.network.dns_resolver',
  'DNS resolver',
  [
    extension(
      'envoy.network.dns_resolver.cares',
      'envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig',
      resolveCares,
    ),
    // The same resolver answers: a thread that waits in the system's own would be no gain here.
    extension(
      'envoy.network.dns_resolver.getaddrinfo',
      'envoy.extensions.network.dns_resolver.getaddrinfo.v3.GetAddrInfoDnsResolverConfig',
      (): ResolverSettings => SYSTEM,
    ),
  ],
);

export function resolveDnsResolver(fields: DnsResolverFields, scope: Scope): ResolverSettings {
  const { typed_dns_resolver_config: typed, dns_resolution_config: older } = fields;
  if (typed !== undefined) {
    return DNS_RESOLVERS.resolve(typed, scope.at('typed_dns_resolver_config')) ?? SYSTEM;
  }
  if (older !== undefined) {
    const place = scope.at('dns_resolution_config');
    return {
      ...SYSTEM,
      servers: serversOf(older.resolvers, place.at('resolvers')),
      ...resolveOptions(older.dns_resolver_options),
    };
  }
  return {
    ...SYSTEM,
    servers: serversOf(fields.dns_resolvers, scope.at('dns_resolvers')),
    usesTcp: fields.use_tcp_for_dns_lookups ?? false,
  };
}

function resolveCares(message: CaresDnsResolverConfig, scope: Scope): ResolverSettings {
  refuseOtherFields(message, CARES_FIELDS, scope);
  return {
    servers: serversOf(message.resolvers, scope.at('resolvers')),
    serversAreFallback: message.use_resolvers_as_fallback ?? false,
    skipsUnroutable: message.filter_unroutable_families ?? false,
    timeoutMs: Number(message.query_timeout_seconds ?? TIMEOUT_S) * 1000,
    tries: message.query_tries ?? TRIES,
    ...resolveOptions(message.dns_resolver_options),
  };
}

function resolveOptions(
  message: DnsResolverOptions = {},
): Pick<ResolverSettings, 'noSearchDomains' | 'usesTcp'> {
  return {
    noSearchDomains: message.no_default_search_domain ?? false,
    usesTcp: message.use_tcp_for_dns_lookups ?? false,
  };
}

function serversOf(addresses: readonly Address[] = [], scope: Scope): readonly string[] {
  const servers = addresses.map((address, index) => {
    const place = scope.at(index);
    if (address.pipe !== undefined) {
      place.error('address', `DNS resolver '${address.pipe.path ?? ''}' is not an IP address`);
      return undefined;
    }
    const resolved = resolveAddress(address, place)?.address;
    return resolved === undefined ? undefined : printAddress(resolved);
  });
  return servers.filter((server) => server !== undefined);
}
