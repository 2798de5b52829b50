/** Resolves the tracing of a connection manager, and what routes say of it. */
import type {
  Decorator,
  Tracing as RouteTracingMessage,
} from '../../../shared/api/generated/envoy/config/route/v3/route_components.ts';
import type { Tracing_Http as ProviderMessage } from '../../../shared/api/generated/envoy/config/trace/v3/http_tracer.ts';
import type { HttpConnectionManager_Tracing as TracingMessage } from '../../../shared/api/generated/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.ts';
import type { UuidRequestIdConfig } from '../../../shared/api/generated/envoy/extensions/request_id/uuid/v3/uuid.ts';
import type {
  FractionalPercent,
  Percent,
} from '../../../shared/api/generated/envoy/type/v3/percent.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import type { RuntimeFraction } from '../../../shared/resources/routes/matchers.ts';
import type {
  RouteDecorator,
  RouteTracing,
  SpanNames,
  TracingSettings,
} from '../../../shared/resources/tracing/tracing.ts';
import { checkFormat } from '../access-logs/format.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { fractionWithKey } from '../matchers/fraction.ts';
import type { Scope } from '../scope.ts';
import { float, optional } from '../values.ts';
import { resolveCustomTags } from './custom-tags.ts';
import { TRACERS } from './tracers.ts';

const FIELDS = knownFields<TracingMessage>([
  'client_sampling',
  'random_sampling',
  'overall_sampling',
  'verbose',
  'max_path_tag_length',
  'custom_tags',
  'provider',
  'spawn_upstream_span',
  'operation',
  'upstream_operation',
  'no_context_propagation',
]);
const ROUTE_FIELDS = knownFields<RouteTracingMessage>([
  'client_sampling',
  'random_sampling',
  'overall_sampling',
  'custom_tags',
  'operation',
  'upstream_operation',
]);
const DECORATOR_FIELDS = knownFields<Decorator>(['operation', 'propagate']);

const KEYS = {
  client: 'tracing.client_enabled',
  random: 'tracing.random_sampling',
  overall: 'tracing.global_enabled',
} as const;
const PATH_TAG_LENGTH = 256;

export function resolveTracing(
  message: TracingMessage | undefined,
  requestId: UuidRequestIdConfig,
  scope: Scope,
): TracingSettings | undefined {
  if (message === undefined) return undefined;
  refuseOtherFields(message, FIELDS, scope);
  const tracer = resolveProvider(message.provider, scope);
  return {
    sampling: {
      client: {
        runtimeKey: KEYS.client,
        numerator: Math.floor(percent(message.client_sampling)),
        denominator: 100,
      },
      random: hundredths(message.random_sampling, KEYS.random),
      overall: hundredths(message.overall_sampling, KEYS.overall),
    },
    isVerbose: message.verbose ?? false,
    maxPathTagLength: message.max_path_tag_length ?? PATH_TAG_LENGTH,
    customTags: resolveCustomTags(message.custom_tags, scope.at('custom_tags')),
    spawnsUpstreamSpan: message.spawn_upstream_span ?? false,
    propagatesContext: !(message.no_context_propagation ?? false),
    packsReason: requestId.pack_trace_reason ?? true,
    drawsByRequestId: requestId.use_request_id_for_trace_sampling ?? true,
    ...spanNames(message, scope),
    ...optional('tracer', tracer),
  };
}

/** The connection manager's own, else the bootstrap's. */
function resolveProvider(
  own: ProviderMessage | undefined,
  scope: Scope,
): TracingSettings['tracer'] {
  if (own !== undefined) return TRACERS.resolve(own, scope.at('provider'));
  const { defaultTracer } = scope.context;
  return defaultTracer && TRACERS.resolve(defaultTracer, scope.at('provider'));
}

function percent(message: Percent | undefined): number {
  return message === undefined ? 100 : float(message.value ?? 0);
}

function hundredths(message: Percent | undefined, runtimeKey: string): RuntimeFraction {
  return { runtimeKey, numerator: Math.round(percent(message) * 100), denominator: 10_000 };
}

export function resolveRouteTracing(
  message: RouteTracingMessage | undefined,
  scope: Scope,
): RouteTracing | undefined {
  if (message === undefined) return undefined;
  refuseOtherFields(message, ROUTE_FIELDS, scope);
  const share = (given: FractionalPercent | undefined, key: string): RuntimeFraction =>
    fractionWithKey(given ?? { numerator: 100 }, key);
  return {
    sampling: {
      client: share(message.client_sampling, KEYS.client),
      random: share(message.random_sampling, KEYS.random),
      overall: share(message.overall_sampling, KEYS.overall),
    },
    customTags: resolveCustomTags(message.custom_tags, scope.at('custom_tags')),
    ...spanNames(message, scope),
  };
}

export function resolveDecorator(
  message: Decorator | undefined,
  scope: Scope,
): RouteDecorator | undefined {
  if (message === undefined) return undefined;
  refuseOtherFields(message, DECORATOR_FIELDS, scope);
  const { operation = '', propagate = true } = message;
  return { operation: toByteString(operation), propagates: propagate };
}

function spanNames(
  {
    operation,
    upstream_operation: upstream,
  }: Pick<RouteTracingMessage, 'operation' | 'upstream_operation'>,
  scope: Scope,
): SpanNames {
  const format = (text: string | undefined, field: string): string | undefined =>
    text === undefined || text === '' ? undefined : checkFormat(text, scope.at(field));
  return {
    ...optional('operation', format(operation, 'operation')),
    ...optional('upstreamOperation', format(upstream, 'upstream_operation')),
  };
}
