/** Resolves what a DNS filter knows itself: names with addresses, clusters or services. */
import type { DnsFilterConfig_ServerContextConfig as ServerMessage } from '../../../shared/api/generated/envoy/extensions/filters/udp/dns_filter/v3/dns_filter.ts';
import type {
  DnsTable,
  DnsTable_DnsEndpoint as EndpointMessage,
  DnsTable_DnsService as ServiceMessage,
  DnsTable_DnsServiceProtocol as ProtocolMessage,
  DnsTable_DnsVirtualDomain as DomainMessage,
} from '../../../shared/api/generated/envoy/data/dns/v3/dns_table.ts';
import type { DataSource } from '../../../shared/api/generated/envoy/config/core/v3/base.ts';
import { isIP } from '../../../shared/addresses/ip-text.ts';
import type { DnsDomain, DnsService } from '../../../shared/resources/udp-listener.ts';
import { ApiCatalog } from '../../config/api/api-catalog.ts';
import { messageFromText } from '../../config/message-from-text.ts';
import { readDataSource } from '../data-source.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { durationMsOr } from '../values.ts';

const TABLE_TYPE = 'envoy.data.dns.v3.DnsTable';
const TABLE_FIELDS = knownFields<DnsTable>(
  ['external_retry_count', 'virtual_domains'],
  // Envoy makes them of the domains.
  ['known_suffixes'],
);
const TTL_MS = 300_000;
/** Of the protocols that have services; others go by their number's name nowhere. */
const PROTOCOLS: ReadonlyMap<number, string> = new Map([
  [6, 'tcp'],
  [17, 'udp'],
  [132, 'sctp'],
]);

export interface ResolvedTable {
  readonly domains: readonly DnsDomain[];
  /** Times that a name server is asked again. */
  readonly retries: number;
}

/** Undefined after a reported problem. */
export function resolveDnsTable(
  { inline_dns_table: inline, external_dns_table: external }: ServerMessage,
  scope: Scope,
): ResolvedTable | undefined {
  const [table, place] =
    external === undefined
      ? [inline, scope.at('inline_dns_table')]
      : [readTable(external, scope.at('external_dns_table')), scope.at('external_dns_table')];
  if (table === undefined) return undefined;
  refuseOtherFields(table, TABLE_FIELDS, place);
  const domains = (table.virtual_domains ?? []).map((domain, index) =>
    resolveDomain(domain, place.at('virtual_domains', index)),
  );
  return { domains, retries: table.external_retry_count ?? 0 };
}

function readTable(source: DataSource, scope: Scope): DnsTable | undefined {
  const content = readDataSource(source, scope);
  if (content === undefined) return undefined;
  const { context, place } = scope;
  const options = {
    catalog: new ApiCatalog(),
    sink: context.problems,
    unknownFields: 'refuse',
    ...(place === undefined ? {} : { place }),
  } as const;
  const format = content.toString('latin1').trimStart().startsWith('{') ? 'json' : 'yaml';
  return messageFromText<DnsTable>(options, TABLE_TYPE, { format, content });
}

function resolveDomain(message: DomainMessage, scope: Scope): DnsDomain {
  const { name = '', endpoint = {}, answer_ttl: ttl } = message;
  const ttlS = Math.floor(durationMsOr(ttl, TTL_MS) / 1000);
  return { name, ttlS, endpoint: resolveEndpoint(endpoint, scope.at('endpoint')) };
}

function resolveEndpoint(message: EndpointMessage, scope: Scope): DnsDomain['endpoint'] {
  const { address_list: list, cluster_name: cluster, service_list: services } = message;
  if (cluster !== undefined) return { kind: 'cluster', name: cluster };
  if (services !== undefined) {
    const named = (services.services ?? []).map(resolveService);
    return { kind: 'services', services: named };
  }
  const addresses = list?.address ?? [];
  for (const [index, address] of addresses.entries()) {
    if (isIP(address) !== 0) continue;
    const place = scope.at('address_list').at('address', index);
    place.error('conflict', `malformed IP address: ${address}`);
  }
  return { kind: 'addresses', addresses };
}

function resolveService(message: ServiceMessage): DnsService {
  const { service_name: name = '', protocol = {}, ttl, targets = [] } = message;
  return {
    name: `${labelled(name)}.${labelled(protocolOf(protocol))}`,
    ttlS: Math.floor(durationMsOr(ttl, TTL_MS) / 1000),
    targets: targets.map((target) => ({
      kind: target.cluster_name === undefined ? ('host' as const) : ('cluster' as const),
      name: target.cluster_name ?? target.host_name ?? '',
      priority: target.priority ?? 0,
      weight: target.weight ?? 0,
      port: target.port ?? 0,
    })),
  };
}

function protocolOf({ name, number }: ProtocolMessage): string {
  return name ?? PROTOCOLS.get(number ?? 0) ?? String(number ?? 0);
}

function labelled(name: string): string {
  return name.startsWith('_') ? name : `_${name}`;
}
