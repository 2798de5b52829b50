/** Resolves envoy.extensions.filters.http.aws_lambda.v3, also per route. */
import type {
  Config,
  PerRouteConfig,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/aws_lambda/v3/aws_lambda.ts';
import type { CredentialProvider } from '../../../../../shared/aws/credential-provider.ts';
import type {
  AwsLambdaFilterSettings,
  AwsLambdaOptions,
} from '../../../../../shared/resources/filters/http/aws/lambda.ts';
import type { GenericSecret } from '../../../../../shared/resources/generic-secret.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import type { Scope } from '../../../scope.ts';
import { httpFilter, perRoute } from '../../http-filter-row.ts';
import { awsFile } from './aws-environment.ts';
import { credentialsOf, resolveCredentials } from './credential-chain.ts';
import { resolveSignedHeaders } from './request-signing.ts';

const FIELDS = knownFields<Config>([
  'arn',
  'payload_passthrough',
  'invocation_mode',
  'host_rewrite',
  'credentials_profile',
  'credentials',
  'match_excluded_headers',
  'match_included_headers',
]);
/** `arn:partition:service:region:account:kind:function[:version]` */
const ARN_PARTS_MIN = 7;

export const AWS_LAMBDA_FILTER = httpFilter(
  'envoy.filters.http.aws_lambda',
  'envoy.extensions.filters.http.aws_lambda.v3.Config',
  (message: Config, scope, name): AwsLambdaFilterSettings => ({
    kind: 'aws_lambda',
    name,
    options: resolveLambda(message, scope),
  }),
  perRoute(
    'envoy.extensions.filters.http.aws_lambda.v3.PerRouteConfig',
    (message: PerRouteConfig, scope) =>
      resolveLambda(message.invoke_config ?? {}, scope.at('invoke_config')),
  ),
);

function resolveLambda(message: Config, scope: Scope): AwsLambdaOptions {
  refuseOtherFields(message, FIELDS, scope);
  const { arn = '' } = message;
  const parts = arn.split(':');
  if (parts.length < ARN_PARTS_MIN || parts[0] !== 'arn') {
    scope.at('arn').error('conflict', `aws_lambda_filter: Invalid ARN: ${arn}`);
  }
  const region = parts[3] ?? '';
  return {
    arn,
    passesPayload: message.payload_passthrough ?? false,
    isAsynchronous: message.invocation_mode === 'ASYNCHRONOUS',
    signing: {
      service: 'lambda',
      region,
      algorithm: 'v4',
      credentials: resolveLambdaCredentials(message, region, scope),
      ...resolveSignedHeaders(message, scope),
      hostRewrite: message.host_rewrite ?? '',
      isPayloadUnsigned: false,
    },
  };
}

function resolveLambdaCredentials(message: Config, region: string, scope: Scope): GenericSecret {
  const { credentials, credentials_profile: profile = '' } = message;
  if (credentials !== undefined) {
    return resolveCredentials({ inline_credential: credentials }, region, scope.at('credentials'));
  }
  if (profile === '') return resolveCredentials(undefined, region, scope);
  const source = { path: awsFile('credentials') };
  const chain: readonly CredentialProvider[] = [{ kind: 'file', source, profile }];
  return credentialsOf(chain, scope);
}
