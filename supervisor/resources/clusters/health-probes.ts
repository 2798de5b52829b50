/** Resolves what a health check asks a host, and which answers it takes for good. */
import type {
  HealthCheck,
  HealthCheck_GrpcHealthCheck as GrpcHealthCheck,
  HealthCheck_HttpHealthCheck as HttpHealthCheck,
  HealthCheck_Payload as Payload,
  HealthCheck_TcpHealthCheck as TcpHealthCheck,
} from '../../../shared/api/generated/envoy/config/core/v3/health_check.ts';
import type { Int64Range } from '../../../shared/api/generated/envoy/type/v3/range.ts';
import type {
  GrpcProbe,
  HealthCheckResource,
  HttpProbe,
  StatusRange,
  TcpProbe,
} from '../../../shared/resources/clusters/health-check.ts';
import { resolveStringMatcher } from '../matchers/string-matcher.ts';
import { HEALTH_CHECKERS } from './custom-checks.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveHeaderChanges } from '../routes/header-changes.ts';
import type { Scope } from '../scope.ts';
import { resolveProxySender } from '../transport-sockets/proxy-protocol.ts';
import { optional } from '../values.ts';

const HTTP_FIELDS = knownFields<HttpHealthCheck>([
  'host',
  'path',
  'request_headers_to_add',
  'request_headers_to_remove',
  'expected_statuses',
  'retriable_statuses',
  'codec_client_type',
  'method',
  'send',
  'receive',
  'response_buffer_size',
  'service_name_matcher',
]);
const GRPC_FIELDS = knownFields<GrpcHealthCheck>(['service_name', 'authority', 'initial_metadata']);
const TCP_FIELDS = knownFields<TcpHealthCheck>(['send', 'receive', 'proxy_protocol_config']);

const OK: readonly StatusRange[] = [{ from: 200, to: 201 }];
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'OPTIONS']);
const RESPONSE_BUFFER_BYTES = 1024;

/** Undefined where none is stated, or none that can be made. */
export function resolveProbe(
  message: HealthCheck,
  scope: Scope,
): HealthCheckResource['probe'] | undefined {
  const { http_health_check: http, tcp_health_check: tcp, grpc_health_check: grpc } = message;
  if (http !== undefined) return resolveHttp(http, scope.at('http_health_check'));
  if (tcp !== undefined) return resolveTcp(tcp, scope.at('tcp_health_check'));
  if (grpc !== undefined) return resolveGrpc(grpc, scope.at('grpc_health_check'));
  const { custom_health_check: custom } = message;
  return custom && HEALTH_CHECKERS.resolve(custom, scope.at('custom_health_check'));
}

function resolveHttp(message: HttpHealthCheck, scope: Scope): HttpProbe {
  refuseOtherFields(message, HTTP_FIELDS, scope);
  const { codec_client_type: codec = 'HTTP1' } = message;
  if (codec !== 'HTTP1' && codec !== 'HTTP2') {
    scope.at('codec_client_type').unsupported(`a check over ${codec} is`);
  }
  const method = methodOf(message);
  const { service_name_matcher: service } = message;
  const serviceName = service && resolveStringMatcher(service, scope.at('service_name_matcher'));
  const receive = (message.receive ?? []).map((each, index) =>
    bytes(each, scope.at('receive', index)),
  );
  return {
    kind: 'http',
    isHttp2: codec === 'HTTP2',
    ...optional('authority', message.host),
    path: message.path ?? '/',
    method,
    headers: resolveHeaderChanges(message, scope).requestHeaders,
    expectedStatuses: ranges(message.expected_statuses, scope.at('expected_statuses')) ?? OK,
    retriableStatuses: ranges(message.retriable_statuses, scope.at('retriable_statuses')) ?? [],
    ...optional('payload', resolvePayload(message.send, method, scope)),
    ...optional('receive', receive.length === 0 ? undefined : receive),
    receiveBytesMax: Number(message.response_buffer_size ?? RESPONSE_BUFFER_BYTES),
    ...optional('serviceName', serviceName),
  };
}

function resolvePayload(
  message: Payload | undefined,
  method: string,
  scope: Scope,
): string | undefined {
  const payload = bytes(message, scope.at('send'));
  if (payload === '') return undefined;
  if (!WITH_BODY.has(method)) {
    scope.error(
      'conflict',
      `HTTP health check cannot specify a request payload with method '${method}'. Only methods that support a request body (POST, PUT, PATCH, OPTIONS) can be used with payload.`,
    );
  }
  return payload;
}

function methodOf({ method = 'GET' }: HttpHealthCheck): string {
  return method === 'METHOD_UNSPECIFIED' ? 'GET' : String(method);
}

/** The cluster itself has to speak HTTP/2. */
function resolveGrpc(message: GrpcHealthCheck, scope: Scope): GrpcProbe {
  refuseOtherFields(message, GRPC_FIELDS, scope);
  const { authority = '', service_name: service = '' } = message;
  return {
    kind: 'grpc',
    service,
    ...optional('authority', authority === '' ? undefined : authority),
    headers: resolveHeaderChanges({ request_headers_to_add: message.initial_metadata ?? [] }, scope)
      .requestHeaders,
  };
}

function ranges(
  messages: readonly Int64Range[] = [],
  scope: Scope,
): readonly StatusRange[] | undefined {
  if (messages.length === 0) return undefined;
  return messages.map(({ start = '0', end = '0' }, index) => {
    const [from, to] = [Number(start), Number(end)];
    const place = scope.at(index);
    const what = scope.place?.key === 'retriable_statuses' ? 'retriable' : 'expected';
    if (from >= to) {
      place.error(
        'conflict',
        `Invalid http ${what} status range: expecting start < end, but found start=${from} and end=${to}`,
      );
    } else if (from < 100) {
      place.error(
        'conflict',
        `Invalid http ${what} status range: expecting start >= 100, but found start=${from}`,
      );
    } else if (to > 600) {
      place.error(
        'conflict',
        `Invalid http ${what} status range: expecting end <= 600, but found end=${to}`,
      );
    }
    return { from, to };
  });
}

function resolveTcp(message: TcpHealthCheck, scope: Scope): TcpProbe {
  refuseOtherFields(message, TCP_FIELDS, scope);
  const { proxy_protocol_config: proxy } = message;
  const sender = proxy && resolveProxySender(proxy, scope.at('proxy_protocol_config'));
  return {
    kind: 'tcp',
    ...optional('proxyProtocol', sender),
    send: bytes(message.send, scope.at('send')),
    receive: (message.receive ?? []).map((each, index) => bytes(each, scope.at('receive', index))),
  };
}

function bytes(payload: Payload | undefined, scope: Scope): string {
  if (payload?.binary !== undefined) return Buffer.from(payload.binary, 'base64').toString('hex');
  const text = payload?.text ?? '';
  if (!/^(?:[0-9a-fA-F]{2})*$/.test(text)) {
    scope.at('text').error('conflict', `invalid hex string '${text}'`);
  }
  return text.toLowerCase();
}
