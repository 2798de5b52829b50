/** Resolves the conditions under which a line is written. Source: envoy.config.accesslog.v3. */
import type {
  AccessLogFilter as FilterMessage,
  ComparisonFilter,
  GrpcStatusFilter,
  MetadataFilter,
} from '../../../shared/api/generated/envoy/config/accesslog/v3/accesslog.ts';
import type { ExpressionFilter } from '../../../shared/api/generated/envoy/extensions/access_loggers/filters/cel/v3/cel.ts';
import type { OfKind } from '../../../shared/resources/by-kind.ts';
import type { AccessLogFilter } from '../../../shared/resources/access-log.ts';
import { celFeatures, resolveCelText } from '../cel.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { fractionWithKey } from '../matchers/fraction.ts';
import { resolveHeaderMatcher } from '../matchers/header-matcher.ts';
import { resolveMetadataMatcher } from '../matchers/value-matcher.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';

const FIELDS = knownFields<FilterMessage>([
  'status_code_filter',
  'duration_filter',
  'not_health_check_filter',
  'traceable_filter',
  'runtime_filter',
  'and_filter',
  'or_filter',
  'header_filter',
  'response_flag_filter',
  'log_type_filter',
  'grpc_status_filter',
  'metadata_filter',
  'extension_filter',
]);

/** Filters that are extensions of their own. */
export const LOG_FILTERS = new ExtensionRegistry<OfKind<AccessLogFilter, 'cel'>>(
  'envoy.access_loggers.extension_filters',
  'access log filter',
  {
    cel: extension(
      'envoy.access_loggers.extension_filters.cel',
      'envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter',
      ({ expression: text = '', cel_config: config }: ExpressionFilter, scope) => {
        const place = scope.at('expression');
        const expression = resolveCelText(text, place, celFeatures(config));
        return expression && { kind: 'cel', expression };
      },
    ),
  },
);

/** Undefined after a reported problem. */
export function resolveFilter(message: FilterMessage, scope: Scope): AccessLogFilter | undefined {
  refuseOtherFields(message, FIELDS, scope);
  if (message.status_code_filter !== undefined) {
    return comparison('status_code', message.status_code_filter.comparison ?? {});
  }
  if (message.duration_filter !== undefined) {
    return comparison('duration', message.duration_filter.comparison ?? {});
  }
  if (message.not_health_check_filter !== undefined) return { kind: 'not_health_check' };
  if (message.traceable_filter !== undefined) return { kind: 'traceable' };
  if (message.extension_filter !== undefined) {
    return LOG_FILTERS.resolve(message.extension_filter, scope.at('extension_filter'));
  }
  return resolveCombined(message, scope) ?? resolveOther(message, scope);
}

function comparison(
  kind: 'status_code' | 'duration',
  { op = 'EQ', value = {} }: ComparisonFilter,
): AccessLogFilter | undefined {
  if (typeof op === 'number') return undefined;
  const runtimeKey = value.runtime_key === '' ? undefined : value.runtime_key;
  return {
    kind,
    op,
    value: value.default_value ?? 0,
    ...optional('runtimeKey', runtimeKey),
  };
}

function resolveCombined(message: FilterMessage, scope: Scope): AccessLogFilter | undefined {
  for (const kind of ['and', 'or'] as const) {
    const combined = message[`${kind}_filter`];
    if (combined === undefined) continue;
    const place = scope.at(`${kind}_filter`, 'filters');
    const filters = (combined.filters ?? []).map((filter, index) =>
      resolveFilter(filter, place.at(index)),
    );
    return { kind, filters: filters.filter((filter) => filter !== undefined) };
  }
  return undefined;
}

function resolveOther(message: FilterMessage, scope: Scope): AccessLogFilter | undefined {
  const { runtime_filter, header_filter, response_flag_filter, log_type_filter } = message;
  if (runtime_filter !== undefined) {
    const { percent_sampled = {}, runtime_key, use_independent_randomness } = runtime_filter;
    return {
      kind: 'runtime',
      fraction: fractionWithKey(percent_sampled, runtime_key),
      useIndependentRandomness: use_independent_randomness ?? false,
    };
  }
  if (header_filter?.header !== undefined) {
    const header = resolveHeaderMatcher(header_filter.header, scope.at('header_filter', 'header'));
    return header === undefined ? undefined : { kind: 'header', header };
  }
  if (response_flag_filter !== undefined) {
    return { kind: 'response_flag', flags: response_flag_filter.flags ?? [] };
  }
  if (message.metadata_filter !== undefined) {
    return metadataFilter(message.metadata_filter, scope.at('metadata_filter'));
  }
  if (message.grpc_status_filter !== undefined) return grpcStatus(message.grpc_status_filter);
  if (log_type_filter === undefined) return undefined;
  return {
    kind: 'log_type',
    types: (log_type_filter.types ?? []).map(String),
    exclude: log_type_filter.exclude ?? false,
  };
}

function metadataFilter(
  { matcher, match_if_key_not_found: whenMissing = true }: MetadataFilter,
  scope: Scope,
): AccessLogFilter {
  const resolved = matcher && resolveMetadataMatcher(matcher, scope.at('matcher'));
  return { kind: 'metadata', whenMissing, ...optional('matcher', resolved) };
}

/** In the order of their numbers. */
const GRPC_STATUSES: readonly unknown[] = [
  'OK',
  'CANCELED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
];

function grpcStatus({ statuses = [], exclude = false }: GrpcStatusFilter): AccessLogFilter {
  return {
    kind: 'grpc_status',
    statuses: statuses.map((status) =>
      typeof status === 'number' ? status : GRPC_STATUSES.indexOf(status),
    ),
    exclude,
  };
}
