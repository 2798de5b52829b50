/** Resolves envoy.extensions.filters.http.aws_request_signing.v3, also per route. */
import type {
  AwsRequestSigning,
  AwsRequestSigningPerRoute,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/aws_request_signing/v3/aws_request_signing.ts';
import type { StringMatcher as StringMatcherMessage } from '../../../../../shared/api/generated/envoy/type/matcher/v3/string.ts';
import type {
  AwsRequestSigningFilterSettings,
  AwsSigningOptions,
  AwsSigningPerRoute,
} from '../../../../../shared/resources/filters/http/aws/request-signing.ts';
import type { StringMatcher } from '../../../../../shared/resources/routes/matchers.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import { resolveStringMatcher } from '../../../matchers/string-matcher.ts';
import type { Scope } from '../../../scope.ts';
import { durationMsOr, optional } from '../../../values.ts';
import { httpFilter, perRoute } from '../../http-filter-row.ts';
import { regionOfEnvironment } from './aws-environment.ts';
import { resolveCredentials } from './credential-chain.ts';

const FIELDS = knownFields<AwsRequestSigning>([
  'service_name',
  'region',
  'host_rewrite',
  'use_unsigned_payload',
  'match_excluded_headers',
  'match_included_headers',
  'signing_algorithm',
  'query_string',
  'credential_provider',
]);
const QUERY_EXPIRES_MS = 5000;
const NO_REGION =
  'AWS region is not set in xDS configuration and failed to retrieve from environment variable or AWS profile/config files.';

export const AWS_REQUEST_SIGNING_FILTER = httpFilter(
  'envoy.filters.http.aws_request_signing',
  'envoy.extensions.filters.http.aws_request_signing.v3.AwsRequestSigning',
  (message: AwsRequestSigning, scope, name): AwsRequestSigningFilterSettings => ({
    kind: 'aws_request_signing',
    name,
    options: resolveSigning(message, scope),
  }),
  perRoute(
    'envoy.extensions.filters.http.aws_request_signing.v3.AwsRequestSigningPerRoute',
    (message: AwsRequestSigningPerRoute, scope): AwsSigningPerRoute => ({
      options: resolveSigning(message.aws_request_signing ?? {}, scope.at('aws_request_signing')),
      statPrefix: message.stat_prefix ?? '',
    }),
  ),
);

function resolveSigning(message: AwsRequestSigning, scope: Scope): AwsSigningOptions {
  refuseOtherFields(message, FIELDS, scope);
  const algorithm = message.signing_algorithm === 'AWS_SIGV4A' ? 'v4a' : 'v4';
  const ownRegion = message.region ?? '';
  const region = ownRegion === '' ? regionOfEnvironment(algorithm) : ownRegion;
  if (region === '') scope.error('conflict', NO_REGION);
  const { query_string: query, credential_provider: provider } = message;
  const expiresMs = query && durationMsOr(query.expiration_time, QUERY_EXPIRES_MS);
  return {
    service: message.service_name ?? '',
    region,
    algorithm,
    credentials: resolveCredentials(provider, region, scope.at('credential_provider')),
    ...resolveSignedHeaders(message, scope),
    ...optional(
      'queryExpiresS',
      expiresMs === undefined ? undefined : Math.trunc(expiresMs / 1000),
    ),
    hostRewrite: message.host_rewrite ?? '',
    isPayloadUnsigned: message.use_unsigned_payload ?? false,
  };
}

interface SignedHeaderFields {
  readonly match_excluded_headers?: readonly StringMatcherMessage[];
  readonly match_included_headers?: readonly StringMatcherMessage[];
}

export function resolveSignedHeaders(
  message: SignedHeaderFields,
  scope: Scope,
): Pick<AwsSigningOptions, 'excludedHeaders' | 'includedHeaders'> {
  const list = (field: keyof SignedHeaderFields): readonly StringMatcher[] =>
    (message[field] ?? []).flatMap(
      (each, index) => resolveStringMatcher(each, scope.at(field, index)) ?? [],
    );
  return {
    excludedHeaders: list('match_excluded_headers'),
    includedHeaders: list('match_included_headers'),
  };
}
