/** Resolves which HTTP a cluster's hosts speak: the typed extension, or the older fields. */
import { resolveRequestPolicies } from './request-policies.ts';
import { typeNameOf } from '../../config/type-name.ts';
import type { Cluster } from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type {
  Http1ProtocolOptions,
  HttpProtocolOptions as CommonOptions,
  UpstreamHttpProtocolOptions,
} from '../../../shared/api/generated/envoy/config/core/v3/protocol.ts';
import type { HttpProtocolOptions } from '../../../shared/api/generated/envoy/extensions/upstreams/http/v3/http_protocol_options.ts';
import type { Any } from '../../../shared/api/well-known.ts';
import type {
  ClusterResource,
  Http1ClientOptions,
  UpstreamHttpOptions,
  UpstreamNameOptions,
} from '../../../shared/resources/clusters/cluster.ts';
import type { Http2Options } from '../../../shared/resources/http2-options.ts';

import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveHttp2Options } from '../http/http2-options.ts';
import { headerCase } from '../http/http1-options.ts';
import type { Scope } from '../scope.ts';
import { REDIS_EXTENSION, REDIS_OPTIONS } from './redis-options.ts';
import { THRIFT_EXTENSION, THRIFT_OPTIONS } from './thrift-options.ts';
import { TCP_EXTENSION } from './tcp-options.ts';
import { resolveClusterFilters } from '../filters/upstream-filters.ts';
import { durationMs, durationMsOr, optional, shareOf } from '../values.ts';

const EXTENSION = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

const EXTENSION_FIELDS = knownFields<HttpProtocolOptions>([
  'common_http_protocol_options',
  'explicit_http_config',
  'use_downstream_protocol_config',
  'auto_config',
  'http_filters',
  'upstream_http_protocol_options',
  'hash_policy',
  'request_mirror_policies',
  'retry_policy',
]);
const NAME_FIELDS = knownFields<UpstreamHttpProtocolOptions>([
  'auto_sni',
  'auto_san_validation',
  'override_auto_sni_header',
]);
const COMMON_FIELDS = knownFields<CommonOptions>(
  [
    'idle_timeout',
    'max_connection_duration',
    'max_connection_duration_jitter',
    'max_headers_count',
    'max_requests_per_connection',
    'max_response_headers_kb',
    'max_stream_duration',
  ],
  // Rules for requests, and so of listeners.
  ['headers_with_underscores_action'],
);
const HTTP1_FIELDS = knownFields<Http1ProtocolOptions>(
  ['header_key_format', 'enable_trailers', 'allow_chunked_length', 'send_fully_qualified_url'],
  // Fields for the server's side alone, or for a parser that is not there.
  [
    'allow_absolute_url',
    'accept_http_10',
    'default_host_for_http_10',
    'use_balsa_parser',
    'override_stream_error_on_invalid_http_message',
    'allow_custom_methods',
  ],
);

const CONFIGS = ['explicit_http_config', 'use_downstream_protocol_config', 'auto_config'] as const;

/** Names of options that are not HTTP's, with their types. */
const OTHER_OPTIONS = new Map([
  [TCP_EXTENSION, TCP_EXTENSION],
  [REDIS_EXTENSION, REDIS_OPTIONS],
  [THRIFT_EXTENSION, THRIFT_OPTIONS],
]);

const IDLE_TIMEOUT_MS = 3_600_000;
const MAX_RESPONSE_HEADERS_KB = 80;
const MAX_HEADERS_COUNT = 100;

export type UpstreamHttp = Pick<ClusterResource, 'upstreamHttp' | 'maxRequestsPerConnection'>;

export function resolveUpstreamHttp(message: Cluster, scope: Scope): UpstreamHttp {
  const typed = findExtension(message, scope.at('typed_extension_protocol_options'));
  if (typed !== undefined) {
    const place = scope.at('typed_extension_protocol_options', EXTENSION);
    const names = resolveNames(typed, message, place);
    return withNames(resolveTyped(typed, message.max_requests_per_connection, place), names);
  }
  const names = resolveNames(message, message, scope);
  const http1 = resolveHttp1(message.http_protocol_options, scope.at('http_protocol_options'));
  const options = common(
    message.common_http_protocol_options ?? {},
    {
      protocol: deprecatedProtocol(message, scope),
      maxRequests: message.max_requests_per_connection,
      http1,
      http2: resolveHttp2Options(
        message.http2_protocol_options ?? {},
        scope.at('http2_protocol_options'),
      ),
    },
    scope.at('common_http_protocol_options'),
  );
  return withNames(options, names);
}

/** What a cluster says without HttpProtocolOptions. */
function deprecatedProtocol(message: Cluster, scope: Scope): UpstreamHttpOptions['protocol'] {
  const { http_protocol_options: http1, http2_protocol_options: http2 } = message;
  const isChosen = message.protocol_selection === 'USE_DOWNSTREAM_PROTOCOL';
  if (http1 !== undefined && http2 !== undefined && !isChosen) {
    const what = 'cluster: Both HTTP1 and HTTP2 options may only be configured with';
    scope.error('conflict', `${what} non-default 'protocol_selection' values`);
  }
  if (isChosen) return 'DOWNSTREAM';
  return http2 === undefined ? 'HTTP1' : 'HTTP2';
}

function withNames(options: UpstreamHttp, names: UpstreamNameOptions | undefined): UpstreamHttp {
  if (names === undefined) return options;
  return { ...options, upstreamHttp: { ...options.upstreamHttp, names } };
}

/** Without TLS they say nothing. */
function resolveNames(
  { upstream_http_protocol_options: names }: Pick<Cluster, 'upstream_http_protocol_options'>,
  { transport_socket: socket, transport_socket_matches: matches = [] }: Cluster,
  scope: Scope,
): UpstreamNameOptions | undefined {
  if (names === undefined || (socket === undefined && matches.length === 0)) return undefined;
  refuseOtherFields(names, NAME_FIELDS, scope.at('upstream_http_protocol_options'));
  const { auto_sni: sendsName = false, auto_san_validation: checksName = false } = names;
  if (!sendsName && !checksName) return undefined;
  const header = names.override_auto_sni_header?.toLowerCase();
  return { sendsName, checksName, ...optional('overrideHeader', header) };
}

function findExtension(message: Cluster, scope: Scope): HttpProtocolOptions | undefined {
  let found: (Any & HttpProtocolOptions) | undefined;
  for (const [name, options] of Object.entries(message.typed_extension_protocol_options ?? {})) {
    if (name === EXTENSION && typeNameOf(options['@type']) === EXTENSION) {
      found = options;
    } else if (OTHER_OPTIONS.get(name) === typeNameOf(options['@type'])) {
      continue;
    } else if (name.startsWith('envoy.')) {
      scope
        .at(name)
        .unsupported(
          `protocol options '${name}' are`,
          `there are ${[EXTENSION, ...OTHER_OPTIONS.keys()].join(', ')}`,
        );
    } else {
      const what = 'registered network or http filter or protocol options implementation';
      scope.at(name).error('extension', `Didn't find a ${what} for name: '${name}'`);
    }
  }
  return found;
}

function resolveTyped(
  options: HttpProtocolOptions,
  maxRequests: number | undefined,
  scope: Scope,
): UpstreamHttp {
  refuseOtherFields(options, EXTENSION_FIELDS, scope);
  const filters = resolveClusterFilters(options.http_filters ?? [], scope.at('http_filters'));
  const { upstreamHttp, ...rest } = common(
    options.common_http_protocol_options ?? {},
    {
      protocol: resolveProtocol(options, scope),
      maxRequests,
      http1: typedHttp1(options, scope),
      http2: typedHttp2(options, scope),
    },
    scope.at('common_http_protocol_options'),
  );
  const own = {
    ...resolveRequestPolicies(options, scope),
    ...optional('filters', filters.length > 0 ? filters : undefined),
  };
  return { ...rest, upstreamHttp: { ...upstreamHttp, ...own } };
}

function typedHttp1(options: HttpProtocolOptions, scope: Scope): Http1ClientOptions | undefined {
  const { config, field } = chosenConfig(options);
  return resolveHttp1(config?.http_protocol_options, scope.at(field, 'http_protocol_options'));
}

function typedHttp2(options: HttpProtocolOptions, scope: Scope): Http2Options {
  const { config, field } = chosenConfig(options);
  const place = scope.at(field, 'http2_protocol_options');
  return resolveHttp2Options(config?.http2_protocol_options ?? {}, place);
}

/** The one of the three that is set; they have the same fields. */
function chosenConfig(options: HttpProtocolOptions): {
  readonly config: HttpProtocolOptions['use_downstream_protocol_config'];
  readonly field: string;
} {
  for (const field of CONFIGS) {
    const config = options[field];
    if (config !== undefined) return { config, field };
  }
  return { config: undefined, field: CONFIGS[0] };
}

function resolveProtocol(
  options: HttpProtocolOptions,
  scope: Scope,
): UpstreamHttpOptions['protocol'] {
  const { explicit_http_config: explicit, use_downstream_protocol_config: downstream } = options;
  if (explicit !== undefined) {
    const place = scope.at('explicit_http_config');
    if (explicit.http3_protocol_options !== undefined) {
      place.at('http3_protocol_options').unsupported('HTTP/3 to upstreams is');
    }
    return explicit.http2_protocol_options === undefined ? 'HTTP1' : 'HTTP2';
  }
  if (downstream !== undefined) {
    return 'DOWNSTREAM';
  }
  if (options.auto_config?.http3_protocol_options !== undefined) {
    const place = scope.at('auto_config', 'http3_protocol_options');
    place.warning(
      'no_effect',
      'HTTP/3 is not offered, since Node.js has no QUIC: the other versions of HTTP serve',
    );
  }
  return 'AUTO';
}

/** Undefined where nothing is said. */
function resolveHttp1(
  message: Http1ProtocolOptions | undefined,
  scope: Scope,
): Http1ClientOptions | undefined {
  if (message === undefined) return undefined;
  refuseOtherFields(message, HTTP1_FIELDS, scope);
  return {
    enableTrailers: message.enable_trailers ?? false,
    allowChunkedLength: message.allow_chunked_length ?? false,
    headerCase: headerCase(message, scope),
    ...(message.send_fully_qualified_url === true ? { sendsFullUrl: true as const } : {}),
  };
}

function common(
  options: CommonOptions,
  from: {
    readonly protocol: UpstreamHttpOptions['protocol'];
    readonly maxRequests: number | undefined;
    readonly http1: Http1ClientOptions | undefined;
    readonly http2: Http2Options;
  },
  scope: Scope,
): UpstreamHttp {
  refuseOtherFields(options, COMMON_FIELDS, scope);
  const { max_connection_duration: duration, max_stream_duration: streamDuration } = options;
  const jitter = shareOf(options.max_connection_duration_jitter);
  return {
    ...optional(
      'maxRequestsPerConnection',
      options.max_requests_per_connection ?? from.maxRequests,
    ),
    upstreamHttp: {
      protocol: from.protocol,
      idleTimeoutMs: durationMsOr(options.idle_timeout, IDLE_TIMEOUT_MS),
      ...optional(
        'maxConnectionDurationMs',
        duration === undefined ? undefined : durationMs(duration),
      ),
      ...optional('maxConnectionDurationJitter', jitter > 0 ? jitter : undefined),
      maxStreamDurationMs: durationMsOr(streamDuration, 0),
      maxResponseHeadersKb: options.max_response_headers_kb ?? MAX_RESPONSE_HEADERS_KB,
      maxHeadersCount: options.max_headers_count ?? MAX_HEADERS_COUNT,
      ...optional('http1', from.http1),
      ...(from.protocol === 'HTTP1' ? {} : { http2: from.http2 }),
    },
  };
}

/** A host can only choose its protocol where TLS asks it. */
export function checkAlpn(name: string, resource: ClusterResource, scope: Scope): void {
  if (resource.upstreamHttp.protocol !== 'AUTO') return;
  const { tls, socketMatches = [] } = resource;
  const refuse = (what: string): void =>
    scope.error('conflict', `ALPN configured for cluster ${name} which has a non-ALPN ${what}`);
  if (tls === undefined) refuse('transport socket');
  else if (socketMatches.some((each) => each.tls === undefined)) refuse('transport socket matcher');
}
