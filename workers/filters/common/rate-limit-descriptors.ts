/** Makes the descriptors of a request, by which rate limits tell requests apart. */
import { compileIpRanges } from '../../../shared/addresses/ip-ranges.ts';
import { compileHeaderMatchers } from '../../../shared/matchers/header-matcher.ts';
import { metadataValue } from '../../matching/metadata-value.ts';
import { networkOf } from '../../../shared/addresses/network-of.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import type {
  RateLimitAction,
  RateLimitEntry,
  RateLimitPolicy,
} from '../../../shared/resources/routes/rate-limits.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { queryOf, queryValue } from '../../stream/query.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import { compileQueryMatchers } from '../../routing/query-matcher.ts';
import { compileTextFormat } from '../../substitution/compile-format.ts';
import {
  compileClaim,
  compileExpression,
  compileInput,
  type EntryMaker,
} from './extension-descriptors.ts';

export type Descriptor = readonly RateLimitEntry[];

/** Undefined: there is no such descriptor for the request. */
export type DescriptorMaker = (headers: HeaderMap, info: StreamInfo) => Descriptor | undefined;

/** The descriptors that a request has by these policies, in their order. */
export function compileDescriptors(
  policies: readonly RateLimitPolicy[],
  stage: number,
  nodeCluster: string,
): readonly DescriptorMaker[] {
  return policies
    .filter((policy) => policy.stage === stage && policy.disableKey === '')
    .map((policy) => compileDescriptor(policy, nodeCluster));
}

export function compileDescriptor(
  { actions }: RateLimitPolicy,
  nodeCluster: string,
): DescriptorMaker {
  const makers = actions.map((action) => compileAction(action, nodeCluster));
  return (headers, info) => makeDescriptor(makers, headers, info);
}

/** A descriptor as the key of its bucket. */
export function descriptorKey(descriptor: Descriptor): string {
  return JSON.stringify(descriptor.map(({ key, value }) => [key, value]));
}

function makeDescriptor(
  makers: readonly EntryMaker[],
  headers: HeaderMap,
  info: StreamInfo,
): Descriptor | undefined {
  const entries: RateLimitEntry[] = [];
  for (const make of makers) {
    const entry = make(headers, info);
    if (entry === undefined) return undefined;
    if (entry !== 'absent') entries.push(entry);
  }
  return entries;
}

function compileAction(action: RateLimitAction, nodeCluster: string): EntryMaker {
  switch (action.kind) {
    case 'request_header':
      return (headers) => found(action, headers.getAll(action.name));
    case 'query_parameter':
      return ({ path }) => found(action, queryValue(queryOf(path), action.name));
    case 'remote_address':
      return (_, { downstreamRemoteAddress: { kind, ip } }) =>
        kind === 'ip' ? { key: 'remote_address', value: ip } : undefined;
    case 'masked_remote_address':
      return (_, { downstreamRemoteAddress: { kind, ip } }) => {
        if (kind !== 'ip') return undefined;
        const value = networkOf(ip, ip.includes(':') ? action.v6 : action.v4);
        return { key: 'masked_remote_address', value };
      };
    case 'source_cluster':
      return () => ({ key: 'source_cluster', value: toByteString(nodeCluster) });
    case 'destination_cluster':
      return (_, { upstreamCluster }) =>
        upstreamCluster === ''
          ? undefined
          : { key: 'destination_cluster', value: toByteString(upstreamCluster) };
    case 'metadata':
      return compileMetadata(action);
    case 'expression':
      return compileExpression(action);
    case 'input':
      return compileInput(action);
    case 'jwt_claim':
      return compileClaim(action);
    default:
      return compileWorded(action);
  }
}

function found(
  { key, skipIfAbsent }: { readonly key: string; readonly skipIfAbsent: boolean },
  value: string | undefined,
): RateLimitEntry | 'absent' | undefined {
  if (value !== undefined) return { key, value };
  return skipIfAbsent ? 'absent' : undefined;
}

type ActionOf<Kind> = Extract<RateLimitAction, { readonly kind: Kind }>;

function compileMetadata(action: ActionOf<'metadata'>): EntryMaker {
  const { source, namespace, path, defaultValue } = action;
  return (_, info) => {
    const from = source === 'route' ? info.route?.metadata : info.dynamicMetadata;
    const value = metadataValue(from, namespace, path);
    const text = typeof value === 'string' ? toByteString(value) : '';
    const worded = text === '' ? defaultValue : text;
    return found(action, worded === '' ? undefined : worded);
  };
}

/** Clients of a unix socket are in no range. */
function compileClients(clients: ActionOf<'match'>['clients']): (info: StreamInfo) => boolean {
  if (clients === undefined) return () => true;
  const contains = compileIpRanges(clients.ranges);
  return ({ downstreamRemoteAddress: { kind, ip } }) =>
    (kind === 'ip' && contains(ip)) !== clients.isInverted;
}

/** Entries whose value is the configuration's own. */
function compileWorded(action: ActionOf<'generic_key' | 'match'>): EntryMaker {
  const format = compileTextFormat(action.format, { omitEmptyValues: true });
  const entry = (info: StreamInfo): RateLimitEntry | undefined => {
    const value = format(info) || action.defaultValue;
    return value === '' ? undefined : { key: action.key, value };
  };
  if (action.kind === 'generic_key') return (_, info) => entry(info);
  const headersFit = compileHeaderMatchers(action.headers) ?? (() => true);
  const queryFits = compileQueryMatchers(action.queryParameters) ?? (() => true);
  const clientFits = compileClients(action.clients);
  return (headers, info) => {
    const fits = headersFit(headers) && queryFits(queryOf(headers.path)) && clientFits(info);
    return fits === action.expected ? entry(info) : undefined;
  };
}
