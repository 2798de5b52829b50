/** Resolves envoy.config.listener.v3.FilterChainMatch and refuses chains that match the same. */
import { isIP } from '../../../shared/addresses/ip-text.ts';
import type { CidrRange as CidrMessage } from '../../../shared/api/generated/envoy/config/core/v3/address.ts';
import type {
  FilterChain as FilterChainMessage,
  FilterChainMatch as MatchMessage,
} from '../../../shared/api/generated/envoy/config/listener/v3/listener_components.ts';
import type { CidrRange, FilterChainMatch } from '../../../shared/resources/listener.ts';
import { networkOf } from '../../../shared/addresses/network-of.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveCidr } from '../http/cidr.ts';
import { asciiLower } from '../matchers/string-matcher.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';

const FIELDS = knownFields<MatchMessage>([
  'destination_port',
  'prefix_ranges',
  'direct_source_prefix_ranges',
  'source_type',
  'source_prefix_ranges',
  'source_ports',
  'server_names',
  'transport_protocol',
  'application_protocols',
  'address_suffix',
  'suffix_len',
]);

export interface ListenerScope {
  readonly listener: Scope;
  /** As Envoy names the listener in messages. */
  readonly address: string;
}

/** Undefined for a match that asks for nothing. */
export function resolveChainMatch(
  message: MatchMessage | undefined,
  chainName: string,
  { listener: scope, address }: ListenerScope,
): FilterChainMatch | undefined {
  if (message === undefined || Object.keys(message).length === 0) return undefined;
  refuseOtherFields(message, FIELDS, scope);
  const adding = `error adding listener '${address}'`;
  if (message.address_suffix !== undefined || message.suffix_len !== undefined) {
    scope.error(
      'unsupported',
      `${adding}: filter chain '${chainName}' contains unimplemented fields`,
    );
  }
  const ranges = (field: RangeField): readonly CidrRange[] =>
    resolveRanges(message[field] ?? [], scope.at(field));
  const { source_type: type } = message;
  return {
    ...optional('destinationPort', message.destination_port),
    prefixRanges: ranges('prefix_ranges'),
    serverNames: (message.server_names ?? []).map((name, index) => {
      if (name.includes('*') && !/^\*\.[^*]*$/.test(name)) {
        const place = scope.at('server_names', index);
        place.error('conflict', `${adding}: partial wildcards are not supported in "server_names"`);
      }
      return asciiLower(name);
    }),
    transportProtocol: message.transport_protocol ?? '',
    applicationProtocols: message.application_protocols ?? [],
    directSourcePrefixRanges: ranges('direct_source_prefix_ranges'),
    sourceType: type === 'SAME_IP_OR_LOOPBACK' || type === 'EXTERNAL' ? type : 'ANY',
    sourcePrefixRanges: ranges('source_prefix_ranges'),
    sourcePorts: message.source_ports ?? [],
  };
}

type RangeField = 'prefix_ranges' | 'direct_source_prefix_ranges' | 'source_prefix_ranges';

function resolveRanges(messages: readonly CidrMessage[], scope: Scope): readonly CidrRange[] {
  const ranges = messages.map((message, index) => {
    const { address_prefix: address = '' } = message;
    if (isIP(address) !== 0) return resolveCidr(message, scope.at(index));
    scope.at(index).error('address', `malformed IP address: ${address}`);
    return undefined;
  });
  return ranges.filter((range) => range !== undefined);
}

/** Two chains for the same connections: the same message, or a combination of values in common. */
export function refuseDuplicates(
  messages: readonly FilterChainMessage[],
  matches: readonly (FilterChainMatch | undefined)[],
  { listener, address }: ListenerScope,
): void {
  const adding = `error adding listener '${address}'`;
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const [index, { name = '', filter_chain_match: match = {} }] of messages.entries()) {
    const place = listener.at('filter_chains', index);
    const text = JSON.stringify(match);
    const first = names.get(text);
    if (first !== undefined) {
      place.error(
        'duplicate',
        `${adding}: filter chain '${name}' has the same matching rules defined as '${first}'. duplicate matcher is: ${text}`,
      );
      continue;
    }
    names.set(text, name);
    const combinations = combinationsOf(matches[index]);
    if (combinations.some((each) => taken.has(each))) {
      place.error(
        'duplicate',
        `${adding}: multiple filter chains with overlapping matching rules are defined`,
      );
    }
    for (const each of combinations) taken.add(each);
  }
}

/** A chain with more combinations than this is checked for its whole match alone. */
const MAX_COMBINATIONS = 10_000;

function combinationsOf(match: FilterChainMatch | undefined): readonly string[] {
  if (match === undefined) return [''];
  const ranges = (list: readonly CidrRange[]): readonly string[] =>
    list.map((range) => networkOf(range.address, range.prefixLength));
  const parts: readonly (readonly string[])[] = [
    ranges(match.prefixRanges),
    match.serverNames,
    match.applicationProtocols,
    ranges(match.directSourcePrefixRanges),
    ranges(match.sourcePrefixRanges),
    match.sourcePorts.map(String),
  ];
  const head = `${match.destinationPort ?? ''} ${match.transportProtocol} ${match.sourceType}`;
  let combinations = [head];
  for (const part of parts) {
    if (part.length === 0) {
      combinations = combinations.map((each) => `${each} -`);
      continue;
    }
    if (combinations.length * part.length > MAX_COMBINATIONS) return [];
    combinations = combinations.flatMap((each) => part.map((value) => `${each} ${value}`));
  }
  return combinations;
}
