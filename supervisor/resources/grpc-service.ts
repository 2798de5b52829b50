/** Resolves envoy.config.core.v3.GrpcService: a gRPC server that this server is a client of. */
import type { RetryPolicy } from '../../shared/api/generated/envoy/config/core/v3/base.ts';
import type {
  GrpcService,
  GrpcService_EnvoyGrpc as EnvoyGrpc,
  GrpcService_GoogleGrpc as GoogleGrpc,
  GrpcService_GoogleGrpc_CallCredentials as CallCredentials,
} from '../../shared/api/generated/envoy/config/core/v3/grpc_service.ts';
import type { ClientTls, GrpcTarget } from '../../shared/resources/grpc-target.ts';
import { checkFormat } from './access-logs/format.ts';
import { readDataSource } from './data-source.ts';
import { knownFields, refuseOtherFields } from './fields.ts';
import { resolveCoreRetry } from './http-target.ts';
import type { Scope } from './scope.ts';
import { optional } from './values.ts';

const FIELDS = knownFields<GrpcService>(
  ['envoy_grpc', 'google_grpc', 'initial_metadata', 'retry_policy'],
  // A stream has no end to wait for; the makers of unary calls read it.
  ['timeout'],
);
const CLUSTER_FIELDS = knownFields<EnvoyGrpc>(
  // Calls of the supervisor carry no headers of Envoy anyway.
  ['cluster_name', 'authority', 'max_receive_message_length', 'skip_envoy_headers'],
);
const URI_FIELDS = knownFields<GoogleGrpc>(
  ['target_uri', 'channel_credentials', 'call_credentials', 'channel_args', 'stat_prefix'],
  ['per_stream_buffer_limit_bytes'],
);

/** Undefined after a reported problem. */
export function resolveGrpcService(message: GrpcService, scope: Scope): GrpcTarget | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const metadata = (message.initial_metadata ?? []).map(({ key = '', value = '' }, index) => {
    checkFormat(value, scope.at('initial_metadata', index, 'value'));
    return { key, value };
  });
  const { envoy_grpc: cluster, google_grpc: uri, retry_policy: retry } = message;
  if (cluster !== undefined) {
    refuseOtherFields(cluster, CLUSTER_FIELDS, scope.at('envoy_grpc'));
    const name = cluster.cluster_name ?? '';
    const limit = cluster.max_receive_message_length;
    return {
      kind: 'cluster',
      cluster: name,
      authority: cluster.authority === undefined ? name : cluster.authority,
      ...(limit === undefined ? {} : { maxMessageBytes: limit }),
      ...(cluster.skip_envoy_headers === true ? { omitsEnvoyHeaders: true } : {}),
      // Without `retry_on` nothing is retried.
      ...optional('retryPolicy', retry && resolveCoreRetry(retry, '', scope)),
      metadata,
    };
  }
  if (uri === undefined) return undefined;
  const place = scope.at('google_grpc');
  refuseOtherFields(uri, URI_FIELDS, place);
  const tls = resolveTls(uri, place.at('channel_credentials'));
  return {
    kind: 'uri',
    uri: uri.target_uri ?? '',
    statPrefix: uri.stat_prefix ?? '',
    ...(tls === undefined ? {} : { tls }),
    args: channelArguments(uri),
    metadata: [...metadata, ...resolveCallCredentials(uri, tls !== undefined, place)],
  };
}

const CALL_FIELDS = knownFields<CallCredentials>(['access_token', 'google_iam']);

/** A target whose streams are opened again, as often as `grpc_stream_retry_policy` of logs says. */
export function withStreamRetries(
  target: GrpcTarget,
  policy: RetryPolicy | undefined,
  scope: Scope,
): GrpcTarget {
  if (policy === undefined || target.kind === 'uri') return target;
  return { ...target, retryPolicy: resolveCoreRetry(policy, 'connect-failure', scope) };
}

/** They travel as metadata. The transport does not send them where others could read them. */
function resolveCallCredentials(
  { call_credentials: all = [] }: GoogleGrpc,
  isSecure: boolean,
  scope: Scope,
): GrpcTarget['metadata'] {
  if (all.length > 0 && !isSecure) {
    const text = 'credentials of calls are only sent with ssl_credentials';
    scope.at('call_credentials').error('conflict', text);
  }
  const entries = all.flatMap((credentials, index) => {
    const { access_token: token, google_iam: iam } = credentials;
    refuseOtherFields(credentials, CALL_FIELDS, scope.at('call_credentials', index));
    if (token !== undefined) return [{ key: 'authorization', value: `Bearer ${token}` }];
    if (iam === undefined) return [];
    const { authorization_token: secret = '', authority_selector: selector = '' } = iam;
    return [
      { key: 'x-goog-iam-authorization-token', value: secret },
      { key: 'x-goog-iam-authority-selector', value: selector },
    ];
  });
  // The first of two entries with one key counts, elsewhere the last.
  return entries.toReversed();
}

function channelArguments({
  channel_args: given,
}: GoogleGrpc): Readonly<Record<string, string | number>> {
  const args = Object.entries(given?.args ?? {}).map(
    ([name, { string_value: text, int_value }]) => [name, text ?? Number(int_value)],
  );
  return Object.fromEntries(args) as Readonly<Record<string, string | number>>;
}

function resolveTls(
  { channel_credentials: credentials }: GoogleGrpc,
  scope: Scope,
): ClientTls | undefined {
  if (credentials?.google_default !== undefined) {
    scope.at('google_default').unsupported('credentials of a cloud provider are');
  }
  const ssl = credentials?.ssl_credentials;
  if (ssl === undefined) return undefined;
  const place = scope.at('ssl_credentials');
  const read = (field: 'root_certs' | 'private_key' | 'cert_chain'): Buffer | undefined => {
    const source = ssl[field];
    return source === undefined ? undefined : readDataSource(source, place.at(field));
  };
  const [roots, key, chain] = [read('root_certs'), read('private_key'), read('cert_chain')];
  return {
    ...(roots === undefined ? {} : { roots }),
    ...(key === undefined ? {} : { key }),
    ...(chain === undefined ? {} : { chain }),
  };
}
