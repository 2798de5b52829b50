/** Resolves envoy.config.route.v3.RateLimit: what of a request makes a descriptor. */
import type {
  RateLimit,
  RateLimit_Action as ActionMessage,
  RateLimit_Action_MetaData as MetadataMessage,
  RateLimit_Action_RemoteAddressMatch as AddressMessage,
} from '../../../shared/api/generated/envoy/config/route/v3/route_components.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import type {
  RateLimitAction,
  RateLimitHits,
  RateLimitOverride,
  RateLimitPolicy,
} from '../../../shared/resources/routes/rate-limits.ts';
import { RATE_LIMIT_UNITS } from '../../../shared/resources/routes/rate-limits.ts';
import { checkFormat } from '../access-logs/format.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveHeaderMatchers } from '../matchers/header-matcher.ts';
import { resolveQueryParameterMatchers } from '../matchers/query-parameter-matcher.ts';
import { asciiLower } from '../matchers/string-matcher.ts';
import { resolveMetadataKey } from '../metadata.ts';
import { resolveExtensionAction } from './rate-limit-extensions.ts';
import { type Cidr, resolveCidr } from '../http/cidr.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';

const FIELDS = knownFields<RateLimit>([
  'stage',
  'actions',
  'disable_key',
  'apply_on_stream_done',
  'limit',
  'hits_addend',
  'x_ratelimit_option',
]);
const ACTION_FIELDS = knownFields<ActionMessage>([
  'request_headers',
  'query_parameters',
  'remote_address',
  'masked_remote_address',
  'source_cluster',
  'destination_cluster',
  'generic_key',
  'header_value_match',
  'query_parameter_value_match',
  'remote_address_match',
  'metadata',
  'dynamic_metadata',
  'extension',
]);

const IPV4_BITS = 32;
const IPV6_BITS = 128;

/** Undefined where there are none. */
export function resolveRateLimits(
  messages: readonly RateLimit[] | undefined,
  scope: Scope,
): readonly RateLimitPolicy[] | undefined {
  return messages?.map((message, index) => {
    const place = scope.at(index);
    refuseOtherFields(message, FIELDS, place);
    const actions = (message.actions ?? []).map((action, at) =>
      resolveAction(action, place.at('actions', at)),
    );
    return {
      stage: message.stage ?? 0,
      disableKey: message.disable_key ?? '',
      actions: actions.filter((action) => action !== undefined),
      appliesWhenDone: message.apply_on_stream_done ?? false,
      ...optional('tells', tellsOf(message)),
      ...optional('limit', resolveOverride(message.limit)),
      ...optional('hits', resolveHits(message, place.at('hits_addend'))),
    };
  });
}

function tellsOf({ x_ratelimit_option: option }: RateLimit): boolean | undefined {
  if (option === 'OFF') return false;
  return option === 'DRAFT_VERSION_03' ? true : undefined;
}

function resolveOverride(message: RateLimit['limit']): RateLimitOverride | undefined {
  const { dynamic_metadata: metadata, rate_limit: fixed } = message ?? {};
  if (metadata !== undefined) {
    return { kind: 'metadata', ...resolveMetadataKey(metadata.metadata_key ?? {}) };
  }
  return (
    fixed && {
      kind: 'fixed',
      requestsPerUnit: fixed.requests_per_unit ?? 0,
      unit: RATE_LIMIT_UNITS.get(String(fixed.unit ?? 'UNKNOWN')) ?? 0,
    }
  );
}

function resolveHits({ hits_addend: hits }: RateLimit, scope: Scope): RateLimitHits | undefined {
  if (hits === undefined) return undefined;
  const { number, format = '' } = hits;
  if (number !== undefined && format !== '') {
    scope.error('conflict', 'hits_addend: only one of number or format can be set');
  }
  return {
    number: Number(number ?? 0),
    format: format === '' ? '' : checkFormat(format, scope.at('format')),
    isNegative: hits.is_negative_hits ?? false,
  };
}

function resolveAction(message: ActionMessage, scope: Scope): RateLimitAction | undefined {
  refuseOtherFields(message, ACTION_FIELDS, scope);
  return (
    resolveNamed(message) ??
    resolveGeneric(message, scope) ??
    resolveMatch(message, scope) ??
    resolveAddress(message) ??
    resolveMetadata(message) ??
    (message.extension && resolveExtensionAction(message.extension, scope.at('extension')))
  );
}

/** Entries whose value stands in the request under a name. */
function resolveNamed(message: ActionMessage): RateLimitAction | undefined {
  const { request_headers: header, query_parameters: query } = message;
  if (header !== undefined) {
    return {
      kind: 'request_header',
      name: asciiLower(header.header_name ?? ''),
      key: toByteString(header.descriptor_key ?? ''),
      skipIfAbsent: header.skip_if_absent ?? false,
    };
  }
  if (query === undefined) return undefined;
  return {
    kind: 'query_parameter',
    name: toByteString(query.query_parameter_name ?? ''),
    key: toByteString(query.descriptor_key ?? ''),
    skipIfAbsent: query.skip_if_absent ?? false,
  };
}

function resolveGeneric(message: ActionMessage, scope: Scope): RateLimitAction | undefined {
  const { generic_key: generic } = message;
  if (generic === undefined) return undefined;
  const { descriptor_key: key = '', descriptor_value: value = '' } = generic;
  const format = checkFormat(value, scope.at('generic_key', 'descriptor_value'));
  return {
    kind: 'generic_key',
    key: toByteString(key === '' ? 'generic_key' : key),
    format,
    defaultValue: toByteString(generic.default_value ?? ''),
  };
}

/** The field of each, and what its entry is called unless it is told. */
const MATCHES = {
  headers: ['header_value_match', 'header_match'],
  query: ['query_parameter_value_match', 'query_match'],
  address: ['remote_address_match', 'remote_address_match'],
} as const;

/** Entries whose value is the configuration's own. */
function resolveMatch(message: ActionMessage, scope: Scope): RateLimitAction | undefined {
  const headers = message.header_value_match;
  const query = message.query_parameter_value_match;
  const address = message.remote_address_match;
  const match = headers ?? query ?? address;
  if (match === undefined) return undefined;
  const [field, otherwise] = MATCHES[headers ? 'headers' : query ? 'query' : 'address'];
  const place = scope.at(field);
  return {
    kind: 'match',
    ...resolveWorded(match, otherwise, place),
    expected: (headers ?? query)?.expect_match ?? true,
    headers: resolveHeaderMatchers(headers?.headers, place.at('headers')),
    queryParameters: resolveQueryParameterMatchers(
      query?.query_parameters,
      place.at('query_parameters'),
    ),
    ...optional('clients', address && resolveClients(address, place.at('address_matcher'))),
  };
}

function resolveWorded(
  {
    descriptor_key: key = '',
    descriptor_value: value = '',
    default_value: defaultValue = '',
  }: Pick<AddressMessage, 'descriptor_key' | 'descriptor_value' | 'default_value'>,
  otherwise: string,
  scope: Scope,
): { key: string; format: string; defaultValue: string } {
  return {
    key: toByteString(key === '' ? otherwise : key),
    format: checkFormat(value, scope.at('descriptor_value')),
    defaultValue: toByteString(defaultValue),
  };
}

function resolveClients(
  { address_matcher: { ranges = [], invert_match: isInverted = false } = {} }: AddressMessage,
  scope: Scope,
): { ranges: readonly Cidr[]; isInverted: boolean } {
  const resolved = ranges.map((range, index) => resolveCidr(range, scope.at('ranges', index)));
  return { ranges: resolved.filter((range) => range !== undefined), isInverted };
}

function resolveAddress(message: ActionMessage): RateLimitAction | undefined {
  const { masked_remote_address: masked } = message;
  if (masked !== undefined) {
    return {
      kind: 'masked_remote_address',
      v4: masked.v4_prefix_mask_len ?? IPV4_BITS,
      v6: masked.v6_prefix_mask_len ?? IPV6_BITS,
    };
  }
  for (const kind of ['remote_address', 'source_cluster', 'destination_cluster'] as const) {
    if (message[kind] !== undefined) return { kind };
  }
  return undefined;
}

function resolveMetadata({
  metadata,
  dynamic_metadata: older,
}: ActionMessage): RateLimitAction | undefined {
  const message: MetadataMessage | undefined = metadata ?? older;
  if (message === undefined) return undefined;
  return {
    kind: 'metadata',
    key: toByteString(message.descriptor_key ?? ''),
    source: message.source === 'ROUTE_ENTRY' ? 'route' : 'dynamic',
    ...resolveMetadataKey(message.metadata_key ?? {}),
    defaultValue: toByteString(message.default_value ?? ''),
    skipIfAbsent: message.skip_if_absent ?? false,
  };
}
