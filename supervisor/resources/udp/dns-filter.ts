/** Resolves the filter that answers questions of DNS. */
import { getServers } from 'node:dns';
import type {
  DnsFilterConfig,
  DnsFilterConfig_ClientContextConfig as ClientMessage,
  DnsFilterConfig_ServerContextConfig as ServerMessage,
} from '../../../shared/api/generated/envoy/extensions/filters/udp/dns_filter/v3/dns_filter.ts';
import { parseAuthority } from '../../../shared/addresses/authority.ts';
import type { DnsFilter, DnsForwarding } from '../../../shared/resources/udp-listener.ts';
import { resolveDnsResolver } from '../clusters/dns-resolver.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { durationMsOr, optional } from '../values.ts';
import { resolveDnsTable, type ResolvedTable } from './dns-table.ts';

const FIELDS = knownFields<DnsFilterConfig>([
  'stat_prefix',
  'server_config',
  'client_config',
  'case_insensitive',
]);
const SERVER_FIELDS = knownFields<ServerMessage>(['inline_dns_table', 'external_dns_table']);
const CLIENT_FIELDS = knownFields<ClientMessage>([
  'resolver_timeout',
  'upstream_resolvers',
  'dns_resolution_config',
  'typed_dns_resolver_config',
  'max_pending_lookups',
]);
const TIMEOUT_MS = 2_000;
const DNS_PORT = 53;
/** Where a file says more. */
const PENDING_MAX = 10_000;
const EMPTY: ResolvedTable = { domains: [], retries: 0 };

export function resolveDnsFilter(message: DnsFilterConfig, scope: Scope): DnsFilter {
  refuseOtherFields(message, FIELDS, scope);
  const { server_config: server, client_config: client } = message;
  const place = scope.at('server_config');
  if (server !== undefined) refuseOtherFields(server, SERVER_FIELDS, place);
  const { domains, retries } =
    server === undefined ? EMPTY : (resolveDnsTable(server, place) ?? EMPTY);
  const ignoresCase = message.case_insensitive ?? false;
  return {
    kind: 'dns_filter',
    statPrefix: message.stat_prefix ?? '',
    ignoresCase,
    domains: domains.map((each) =>
      ignoresCase ? { ...each, name: each.name.toLowerCase() } : each,
    ),
    ...optional('forward', client && resolveForwarding(client, retries, scope.at('client_config'))),
  };
}

function resolveForwarding(message: ClientMessage, retries: number, scope: Scope): DnsForwarding {
  refuseOtherFields(message, CLIENT_FIELDS, scope);
  const { upstream_resolvers: older, ...others } = message;
  const settings = resolveDnsResolver({ ...others, ...optional('dns_resolvers', older) }, scope);
  const { servers, serversAreFallback, usesTcp } = settings;
  if (usesTcp) scope.unsupported('asking name servers over TCP is');
  const system = servers.length === 0 || serversAreFallback ? getServers() : [];
  const chosen = system.length > 0 ? system : servers;
  return {
    servers: chosen.map((each) => {
      const { host, port } = parseAuthority(each, DNS_PORT);
      return { ip: host, port };
    }),
    timeoutMs: durationMsOr(message.resolver_timeout, TIMEOUT_MS),
    tries: retries + 1,
    maxPending: Math.min(PENDING_MAX, Number(message.max_pending_lookups ?? PENDING_MAX)),
  };
}
