/** Resolves envoy.extensions.filters.http.fault.v3.HTTPFault, for a chain and per route alike. */
import { toByteString } from '../../../../shared/regex/byte-string.ts';
import type {
  FaultAbort,
  HTTPFault,
} from '../../../../shared/api/generated/envoy/extensions/filters/http/fault/v3/fault.ts';
import type { FaultDelay } from '../../../../shared/api/generated/envoy/extensions/filters/common/fault/v3/fault.ts';
import type {
  FaultOptions,
  FaultFilterSettings,
} from '../../../../shared/resources/filters/http/fault.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { fractionWithKey } from '../../matchers/fraction.ts';
import { resolveHeaderMatchers } from '../../matchers/header-matcher.ts';
import type { Scope } from '../../scope.ts';
import { durationMs, optional } from '../../values.ts';
import { httpFilter, perRoute } from '../http-filter-row.ts';

const FAULT_TYPE = 'envoy.extensions.filters.http.fault.v3.HTTPFault';

const DELAY_KEY = 'fault.http.delay.fixed_delay_percent';
const ABORT_KEY = 'fault.http.abort.abort_percent';

export const FAULT_FILTER = httpFilter(
  'envoy.filters.http.fault',
  FAULT_TYPE,
  (message: HTTPFault, scope, name): FaultFilterSettings => ({
    kind: 'fault',
    name,
    options: resolveFault(message, scope),
  }),
  perRoute(FAULT_TYPE, resolveFault),
);

const FIELDS = knownFields<HTTPFault>(
  [
    'delay',
    'abort',
    'upstream_cluster',
    'headers',
    'downstream_nodes',
    'max_active_faults',
    'delay_percent_runtime',
    'abort_percent_runtime',
    'delay_duration_runtime',
    'abort_http_status_runtime',
    'max_active_faults_runtime',
  ],
  [
    'abort_grpc_status_runtime',
    'response_rate_limit_percent_runtime',
    'disable_downstream_cluster_stats',
    'filter_metadata',
  ],
);
const ABORT_FIELDS = knownFields<FaultAbort>([
  'http_status',
  'grpc_status',
  'header_abort',
  'percentage',
  'response_body',
]);

function resolveFault(message: HTTPFault, scope: Scope): FaultOptions {
  refuseOtherFields(message, FIELDS, scope);
  const { delay, abort } = message;
  return {
    upstreamCluster: message.upstream_cluster ?? '',
    headers: resolveHeaderMatchers(message.headers, scope.at('headers')),
    downstreamNodes: message.downstream_nodes ?? [],
    delayDurationRuntime: message.delay_duration_runtime ?? 'fault.http.delay.fixed_duration_ms',
    abortHttpStatusRuntime: message.abort_http_status_runtime ?? 'fault.http.abort.http_status',
    maxActiveFaultsRuntime: message.max_active_faults_runtime ?? 'fault.http.max_active_faults',
    ...optional('maxActiveFaults', message.max_active_faults),
    ...optional('delay', delay && delayOf(delay, message.delay_percent_runtime)),
    ...optional('abort', abort && abortOf(abort, message, scope.at('abort'))),
  };
}

function delayOf(message: FaultDelay, runtimeKey = DELAY_KEY): FaultOptions['delay'] {
  const { fixed_delay: fixed } = message;
  return {
    percentage: fractionWithKey(message.percentage ?? {}, runtimeKey),
    ...optional('fixedMs', fixed === undefined ? undefined : durationMs(fixed)),
  };
}

function abortOf(message: FaultAbort, fault: HTTPFault, scope: Scope): FaultOptions['abort'] {
  refuseOtherFields(message, ABORT_FIELDS, scope);
  const { response_body: body = '' } = message;
  return {
    ...optional('body', body === '' ? undefined : toByteString(body)),
    percentage: fractionWithKey(message.percentage ?? {}, fault.abort_percent_runtime ?? ABORT_KEY),
    ...optional('httpStatus', message.http_status),
    ...optional('grpcStatus', message.grpc_status),
  };
}
