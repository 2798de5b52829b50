/** Resolves what a cluster says of its hosts as Redis servers: as whom the Redis proxy comes. */
import type { Cluster } from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type { DataSource } from '../../../shared/api/generated/envoy/config/core/v3/base.ts';
import type {
  AwsIam,
  RedisProtocolOptions,
  RedisProtocolOptions_Credential as CredentialMessage,
} from '../../../shared/api/generated/envoy/extensions/filters/network/redis_proxy/v3/redis_proxy.ts';
import type { Any } from '../../../shared/api/well-known.ts';
import type { ClusterResource } from '../../../shared/resources/clusters/cluster.ts';
import type { RedisIam, RedisUpstreamAuth } from '../../../shared/resources/clusters/redis.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import { readDataSource } from '../data-source.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { regionOfEnvironment } from '../filters/http/aws/aws-environment.ts';
import { resolveCredentials } from '../filters/http/aws/credential-chain.ts';
import { durationMsOr, optional } from '../values.ts';

/** Under what name the options stand, and of what type they are. */
export const REDIS_EXTENSION = 'envoy.filters.network.redis_proxy';
export const REDIS_OPTIONS = 'envoy.extensions.filters.network.redis_proxy.v3.RedisProtocolOptions';

const FIELDS = knownFields<RedisProtocolOptions>([
  'auth_password',
  'auth_username',
  'credentials',
  'aws_iam',
]);
const IAM_FIELDS = knownFields<AwsIam>([
  'credential_provider',
  'cache_name',
  'service_name',
  'region',
  'expiration_time',
]);
const IAM_SERVICE = 'elasticache';
const IAM_EXPIRES_MS = 60_000;
const CREDENTIAL_FIELDS = knownFields<CredentialMessage>([
  'address',
  'auth_password',
  'auth_username',
]);

export function resolveRedisOptions(
  message: Cluster,
  outer: Scope,
): Pick<ClusterResource, 'redis'> {
  const typed: (Any & RedisProtocolOptions) | undefined =
    message.typed_extension_protocol_options?.[REDIS_EXTENSION];
  if (typed === undefined) return {};
  const scope = outer.at('typed_extension_protocol_options', REDIS_EXTENSION);
  refuseOtherFields(typed, FIELDS, scope);
  const credentials = typed.credentials ?? [];
  const byAddress = credentials.map((entry, index) =>
    resolveCredential(entry, scope.at('credentials', index)),
  );
  return {
    redis: {
      ...readPair(typed, scope),
      ...optional('iam', typed.aws_iam && resolveIam(typed.aws_iam, scope.at('aws_iam'))),
      ...optional('byAddress', byAddress.length === 0 ? undefined : byAddress),
    },
  };
}

/** Undefined where no region is known: as in Envoy the configured password is sent. */
function resolveIam(message: AwsIam, scope: Scope): RedisIam | undefined {
  refuseOtherFields(message, IAM_FIELDS, scope);
  const ownRegion = message.region ?? '';
  const region = ownRegion === '' ? regionOfEnvironment('v4') : ownRegion;
  if (region === '') {
    scope.warning('no_effect', 'no AWS region is known: the configured password is sent');
    return undefined;
  }
  const service = message.service_name ?? '';
  const { credential_provider: provider } = message;
  return {
    credentials: resolveCredentials(provider, region, scope.at('credential_provider')),
    region,
    service: service === '' ? IAM_SERVICE : service,
    cacheName: toByteString(message.cache_name ?? ''),
    expiresS: Math.trunc(durationMsOr(message.expiration_time, IAM_EXPIRES_MS) / 1000),
  };
}

function resolveCredential(
  message: CredentialMessage,
  scope: Scope,
): NonNullable<RedisUpstreamAuth['byAddress']>[number] {
  refuseOtherFields(message, CREDENTIAL_FIELDS, scope);
  const { socket_address: socket, pipe } = message.address ?? {};
  const { address: ip = '', port_value: port = 0 } = socket ?? {};
  const host = ip.includes(':') ? `[${ip}]` : ip;
  return { address: pipe?.path ?? `${host}:${port}`, ...readPair(message, scope) };
}

function readPair(
  { auth_username: username, auth_password: password }: CredentialMessage,
  scope: Scope,
): { readonly username: string; readonly password: string } {
  const read = (source: DataSource | undefined, field: 'auth_username' | 'auth_password'): string =>
    source === undefined ? '' : (readDataSource(source, scope.at(field))?.toString('latin1') ?? '');
  return {
    username: read(username, 'auth_username'),
    password: read(password, 'auth_password'),
  };
}
