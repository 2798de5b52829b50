/**
 * Resolves envoy.config.core.v3.ConfigSource: where resources that are not in the configuration
 * itself come from. It opens nothing; whether a cluster that is named exists is the caller's
 * question.
 */
import type { ConfigSource, GrpcSource, SourceKind } from '../resolved/config-source.ts';
import type {
  ApiConfigSource,
  ConfigSource as ConfigSourceMessage,
  RateLimitSettings,
} from '../../shared/api/generated/envoy/config/core/v3/config_source.ts';
import type { RetryPolicy } from '../../shared/api/generated/envoy/config/core/v3/base.ts';
import { knownFields, refuseOtherFields } from './fields.ts';
import { resolveGrpcService } from './grpc-service.ts';
import type { Scope } from './scope.ts';
import { durationMs, durationMsOr } from './values.ts';

/** What `retry_back_off` means where it is absent. */
const BACK_OFF = { firstMs: 500, maxMs: 30_000 } as const;

/** What `rate_limit_settings` means where a field is absent. */
const RATE_LIMIT = { maxTokens: 100, fillPerSecond: 10 } as const;

const RETRY_FIELDS = knownFields<RetryPolicy>(['retry_back_off']);
const FIELDS = knownFields<ConfigSourceMessage>(
  [
    'path',
    'path_config_source',
    'api_config_source',
    'ads',
    // Envoy has no use for it either: it is as if nothing were named.
    'self',
    'initial_fetch_timeout',
    'resource_api_version',
  ],
  // Envoy asks the source that stands where a name does, whatever the name's authority.
  ['authorities'],
);
const API_FIELDS = knownFields<ApiConfigSource>([
  'api_type',
  'transport_api_version',
  'cluster_names',
  'grpc_services',
  'refresh_delay',
  'request_timeout',
  'rate_limit_settings',
  'set_node_on_first_message_only',
]);

const INITIAL_FETCH_TIMEOUT_MS = 15_000;
const REST_TIMEOUT_MS = 1_000;

/** Undefined after a reported problem. */
export function resolveConfigSource(
  message: ConfigSourceMessage,
  scope: Scope,
): ConfigSource | undefined {
  refuseOtherFields(message, FIELDS, scope);
  return withTimeout(resolveKind(message, scope), message);
}

/** The source of resources that a locator names. Undefined after a reported problem. */
export function resolveCollectionSource(
  message: ConfigSourceMessage,
  scope: Scope,
): ConfigSource | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const { api_config_source: api, ads } = message;
  if (ads !== undefined) return withTimeout({ kind: 'ads' }, message);
  switch (api?.api_type) {
    case 'AGGREGATED_GRPC':
    case 'AGGREGATED_DELTA_GRPC':
      refuseOtherFields(api, API_FIELDS, scope.at('api_config_source'));
      return withTimeout({ kind: 'ads' }, message);
    case 'DELTA_GRPC':
      return withTimeout(resolveApi(api, scope.at('api_config_source')), message);
    case undefined:
      scope.error('conflict', NO_COLLECTION_SOURCE);
      return undefined;
    default:
      scope
        .at('api_config_source', 'api_type')
        .error('conflict', 'Unknown xdstp:// transport API type');
      return undefined;
  }
}

const NO_COLLECTION_SOURCE =
  'Missing or not supported config source specifier in envoy::config::core::v3::ConfigSource ' +
  'for a collection. Only ADS and gRPC in delta-xDS mode are supported.';

function withTimeout(
  source: SourceKind | undefined,
  { initial_fetch_timeout: timeout }: ConfigSourceMessage,
): ConfigSource | undefined {
  if (source === undefined) return undefined;
  return { ...source, initialFetchTimeoutMs: durationMsOr(timeout, INITIAL_FETCH_TIMEOUT_MS) };
}

function resolveKind(message: ConfigSourceMessage, scope: Scope): SourceKind | undefined {
  const { path_config_source: file, api_config_source: api } = message;
  if (message.path !== undefined) return { kind: 'path', path: message.path };
  if (file !== undefined) {
    const place = scope.at('path_config_source');
    refuseOtherFields(file, FILE_FIELDS, place);
    const directory = file.watched_directory?.path;
    return {
      kind: 'path',
      path: file.path ?? '',
      ...(directory === undefined ? {} : { watchedDirectory: directory }),
    };
  }
  if (api !== undefined) return resolveApi(api, scope.at('api_config_source'));
  if (message.ads !== undefined) return { kind: 'ads' };
  scope.error(
    'conflict',
    'Missing config source specifier in envoy::config::core::v3::ConfigSource',
  );
  return undefined;
}

const FILE_FIELDS = knownFields<NonNullable<ConfigSourceMessage['path_config_source']>>([
  'path',
  'watched_directory',
]);

const API = 'envoy.config.core.v3.ApiConfigSource';

/** Whether what is named fits the kind of transport; each text is Envoy's. */
function checkApi(message: ApiConfigSource, scope: Scope): boolean {
  const { cluster_names: names = [], grpc_services: services = [] } = message;
  const refuse = (text: string): boolean => {
    scope.error('conflict', text);
    return false;
  };
  if (message.transport_api_version === 'V2') {
    return refuse(
      'V2 xDS transport protocol version is deprecated. The v2 xDS major version has been removed ' +
        'and is no longer supported.',
    );
  }
  if (names.length === 0 && services.length === 0) {
    return refuse('API configs must have either a gRPC service or a cluster name defined');
  }
  if (String(message.api_type).endsWith('GRPC')) {
    if (names.length > 0) {
      return refuse(`${API}::(AGGREGATED_)(DELTA_)GRPC must not have a cluster name specified`);
    }
    if (services.length === 1) return true;
    const limit = 'must have no more than 1 gRPC services specified';
    return refuse(`${API}::(AGGREGATED_)(DELTA_)GRPC ${limit}`);
  }
  if (services.length > 0) {
    return refuse(`${API}, if not a gRPC type, must not have a gRPC service specified`);
  }
  return names.length === 1 || refuse(`${API} must have a singleton cluster name specified`);
}

function resolveApi(message: ApiConfigSource, scope: Scope): SourceKind | undefined {
  refuseOtherFields(message, API_FIELDS, scope);
  switch (message.api_type) {
    case 'REST':
      return resolveRest(message, scope);
    case 'DELTA_GRPC':
    case 'GRPC': {
      const grpc = checkApi(message, scope) ? resolveService(message, scope) : undefined;
      return grpc === undefined ? undefined : { kind: 'grpc', ...grpc };
    }
    case 'AGGREGATED_GRPC':
    case 'AGGREGATED_DELTA_GRPC':
      scope
        .at('api_type')
        .error('conflict', `Unsupported config source ${message.api_type}: write ads: {}`);
      return undefined;
    default:
      scope.at('api_type').error('conflict', 'api_type must be REST, GRPC or DELTA_GRPC');
      return undefined;
  }
}

/** The source that `ads_config` names. Undefined after a reported problem. */
export function resolveAggregatedSource(
  message: ApiConfigSource,
  scope: Scope,
): GrpcSource | undefined {
  refuseOtherFields(message, API_FIELDS, scope);
  if (!checkApi(message, scope)) return undefined;
  if (message.api_type === 'GRPC' || message.api_type === 'DELTA_GRPC') {
    return resolveService(message, scope);
  }
  scope.at('api_type').error('conflict', `${API} type must be of non-aggregated gRPC`);
  return undefined;
}

function resolveService(message: ApiConfigSource, scope: Scope): GrpcSource | undefined {
  const [service] = message.grpc_services ?? [];
  if (service === undefined) return undefined;
  const place = scope.at('grpc_services', 0);
  const { retry_policy: retry, ...cluster } = service.envoy_grpc ?? {};
  const withoutRetry = retry === undefined ? service : { ...service, envoy_grpc: cluster };
  const target = resolveGrpcService(withoutRetry, place);
  if (target === undefined) return undefined;
  const limit = message.rate_limit_settings;
  return {
    target,
    isDelta: message.api_type === 'DELTA_GRPC',
    nodeOnFirstMessageOnly: message.set_node_on_first_message_only ?? false,
    backOff: resolveBackOff(retry, place.at('envoy_grpc').at('retry_policy')),
    ...(limit === undefined ? {} : { rateLimit: resolveRateLimit(limit) }),
  };
}

function resolveBackOff(message: RetryPolicy | undefined, scope: Scope): GrpcSource['backOff'] {
  if (message !== undefined) refuseOtherFields(message, RETRY_FIELDS, scope);
  const given = message?.retry_back_off;
  if (given === undefined) return BACK_OFF;
  const firstMs = durationMsOr(given.base_interval, BACK_OFF.firstMs);
  const maxMs = durationMsOr(given.max_interval, firstMs * 10);
  if (maxMs < firstMs) {
    const text = 'max_interval must be greater than or equal to the base_interval';
    scope.at('retry_back_off').error('conflict', text);
  }
  return { firstMs, maxMs };
}

function resolveRateLimit({
  max_tokens: maxTokens = RATE_LIMIT.maxTokens,
  fill_rate: fillPerSecond = RATE_LIMIT.fillPerSecond,
}: RateLimitSettings): NonNullable<GrpcSource['rateLimit']> {
  return { maxTokens, fillPerSecond: Number(fillPerSecond) };
}

function resolveRest(message: ApiConfigSource, scope: Scope): SourceKind | undefined {
  const [cluster] = message.cluster_names ?? [];
  if (!checkApi(message, scope) || cluster === undefined) return undefined;
  if (message.refresh_delay === undefined) {
    scope.error('conflict', 'refresh_delay is required for REST API configuration sources');
    return undefined;
  }
  return {
    kind: 'rest',
    cluster,
    refreshMs: durationMs(message.refresh_delay),
    timeoutMs: durationMsOr(message.request_timeout, REST_TIMEOUT_MS),
  };
}
