/**
 * Resolves where AWS credentials come from: envoy.extensions.common.aws.v3.AwsCredentialProvider, or
 * Envoy's default chain. Credentials that stand in the configuration or the environment are taken over
 * at once; others are fetched while the server runs, and workers know them by a key.
 */
import { createHash } from 'node:crypto';
import type {
  AssumeRoleCredentialProvider,
  AssumeRoleWithWebIdentityCredentialProvider,
  AwsCredentialProvider,
  CredentialsFileCredentialProvider,
  IAMRolesAnywhereCredentialProvider,
} from '../../../../../shared/api/generated/envoy/extensions/common/aws/v3/credential_provider.ts';
import type { DataSource } from '../../../../../shared/api/generated/envoy/config/core/v3/base.ts';
import { writeCredentials } from '../../../../../shared/aws/credentials-text.ts';
import type {
  CredentialProvider,
  CredentialSource,
} from '../../../../../shared/aws/credential-provider.ts';
import { environmentVariable } from '../../../../../shared/process/environment.ts';
import type { GenericSecret } from '../../../../../shared/resources/generic-secret.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import type { Scope } from '../../../scope.ts';
import { durationMs, optional } from '../../../values.ts';
import { awsFile, profileName, serviceEndpoint } from './aws-environment.ts';

const FIELDS = knownFields<AwsCredentialProvider>([
  'assume_role_with_web_identity_provider',
  'inline_credential',
  'credentials_file_provider',
  'custom_credential_provider_chain',
  'iam_roles_anywhere_credential_provider',
  'config_credential_provider',
  'container_credential_provider',
  'environment_credential_provider',
  'instance_profile_credential_provider',
  'assume_role_credential_provider',
]);
const CONTAINER_HOST = 'http://169.254.170.2';
const INSTANCE_HOST = 'http://169.254.169.254';
const SESSION_NAME = 'sluice';
const ANYWHERE_SECONDS = 3600;

type Chain = readonly CredentialProvider[];

/** The credentials of a filter for requests to this region. */
export function resolveCredentials(
  message: AwsCredentialProvider | undefined,
  region: string,
  scope: Scope,
): GenericSecret {
  return credentialsOf(resolveChain(message, region, scope), scope);
}

export function credentialsOf(chain: Chain, scope: Scope): GenericSecret {
  const [first] = chain;
  if (first === undefined) return { kind: 'value', value: new Uint8Array() };
  if (first.kind === 'fixed') return { kind: 'value', value: writeCredentials(first.credentials) };
  const digest = createHash('sha256').update(JSON.stringify(chain)).digest('hex');
  const key = `aws ${digest}`;
  scope.context.onNamedSecret?.({ key, name: 'aws', kind: 'generic', providers: chain });
  return { kind: 'named', key };
}

function resolveChain(
  message: AwsCredentialProvider | undefined,
  region: string,
  scope: Scope,
): Chain {
  if (message === undefined) return defaultChain(region);
  refuseOtherFields(message, FIELDS, scope);
  const { inline_credential: inline } = message;
  if (inline !== undefined) {
    const { access_key_id: id = '', secret_access_key: secret = '', session_token = '' } = inline;
    const credentials = { accessKeyId: id, secretAccessKey: secret, sessionToken: session_token };
    return [{ kind: 'fixed', credentials }];
  }
  const own = namedProviders(message, region, scope);
  if (message.custom_credential_provider_chain !== true) return [...own, ...defaultChain(region)];
  const isNamed = Object.keys(message).some((field) => field.endsWith('_provider'));
  if (!isNamed) {
    scope.error(
      'conflict',
      'Custom credential provider chain must have at least one credential provider',
    );
  }
  return own;
}

/** In the order in which they are asked. */
function namedProviders(message: AwsCredentialProvider, region: string, scope: Scope): Chain {
  const isCustom = message.custom_credential_provider_chain === true;
  const {
    assume_role_credential_provider: assumed,
    credentials_file_provider: file,
    assume_role_with_web_identity_provider: web,
    iam_roles_anywhere_credential_provider: anywhere,
  } = message;
  return [
    ...(isCustom && message.environment_credential_provider ? fromEnvironment() : []),
    ...(file === undefined ? [] : [credentialsFile(file)]),
    ...(isCustom && message.config_credential_provider ? [configFile()] : []),
    ...(assumed === undefined
      ? []
      : assumedRole(assumed, region, scope.at('assume_role_credential_provider'))),
    ...(web === undefined ? [] : webIdentity(web, region)),
    ...(anywhere === undefined ? [] : rolesAnywhere(anywhere)),
    ...(isCustom && message.container_credential_provider ? fromContainer() : []),
    ...(isCustom && message.instance_profile_credential_provider ? fromInstance() : []),
  ];
}

function defaultChain(region: string): Chain {
  const metadata = fromContainer();
  return [
    ...fromEnvironment(),
    credentialsFile({}),
    configFile(),
    ...webIdentity({}, region),
    ...(metadata.length === 0 ? fromInstance() : metadata),
  ];
}

function fromEnvironment(): Chain {
  const accessKeyId = environmentVariable('AWS_ACCESS_KEY_ID') ?? '';
  const secretAccessKey = environmentVariable('AWS_SECRET_ACCESS_KEY') ?? '';
  if (accessKeyId === '' || secretAccessKey === '') return [];
  const sessionToken = environmentVariable('AWS_SESSION_TOKEN') ?? '';
  return [{ kind: 'fixed', credentials: { accessKeyId, secretAccessKey, sessionToken } }];
}

function credentialsFile(message: CredentialsFileCredentialProvider): CredentialProvider {
  const { credentials_data_source: own, profile = profileName() } = message;
  const source = own === undefined ? { path: awsFile('credentials') } : sourceOf(own);
  return { kind: 'file', source, profile };
}

/** What a configuration leaves out stands in the environment, where a pod's runtime puts it. */
function webIdentity(message: AssumeRoleWithWebIdentityCredentialProvider, region: string): Chain {
  const { web_identity_token_data_source: own, role_session_name: name } = message;
  const path = environmentVariable('AWS_WEB_IDENTITY_TOKEN_FILE');
  const roleArn = message.role_arn ?? environmentVariable('AWS_ROLE_ARN');
  const token = own === undefined ? path && { path } : sourceOf(own);
  if (!token || roleArn === undefined) return [];
  const sessionName = name ?? environmentVariable('AWS_ROLE_SESSION_NAME') ?? SESSION_NAME;
  const endpoint = serviceEndpoint('sts', region);
  return [{ kind: 'web_identity', token, roleArn, sessionName, endpoint }];
}

function configFile(): CredentialProvider {
  const source = { path: awsFile('config') };
  return { kind: 'file', source, profile: profileName(), isConfig: true };
}

function fromContainer(): Chain {
  const relative = environmentVariable('AWS_CONTAINER_CREDENTIALS_RELATIVE_URI');
  const full = environmentVariable('AWS_CONTAINER_CREDENTIALS_FULL_URI');
  const url = relative === undefined ? full : `${CONTAINER_HOST}${relative}`;
  if (url === undefined) return [];
  const path = environmentVariable('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE');
  const text = environmentVariable('AWS_CONTAINER_AUTHORIZATION_TOKEN');
  const token = path === undefined ? text && { text } : { path };
  return [{ kind: 'container', url, ...(token ? { token } : {}) }];
}

function fromInstance(): Chain {
  if (environmentVariable('AWS_EC2_METADATA_DISABLED') === 'true') return [];
  const endpoint = environmentVariable('AWS_EC2_METADATA_SERVICE_ENDPOINT') ?? INSTANCE_HOST;
  return [{ kind: 'instance', endpoint: endpoint.replace(/\/$/, '') }];
}

function assumedRole(message: AssumeRoleCredentialProvider, region: string, scope: Scope): Chain {
  const { credential_provider: provider, session_duration: duration } = message;
  return [
    {
      kind: 'assume_role',
      roleArn: message.role_arn ?? '',
      sessionName: message.role_session_name ?? SESSION_NAME,
      externalId: message.external_id ?? '',
      ...optional('durationS', duration === undefined ? undefined : durationMs(duration) / 1000),
      endpoint: serviceEndpoint('sts', region),
      region: region.split(',')[0]?.replace('*', 'us-east-1') ?? '',
      chain: resolveChain(provider, region, scope.at('credential_provider')),
    },
  ];
}

function rolesAnywhere(message: IAMRolesAnywhereCredentialProvider): Chain {
  const { certificate, private_key: key, certificate_chain: chain } = message;
  const { session_duration: duration } = message;
  if (certificate === undefined || key === undefined) return [];
  // The endpoint is where the trust anchor lives.
  const region = message.trust_anchor_arn?.split(':')[3] ?? '';
  return [
    {
      kind: 'roles_anywhere',
      roleArn: message.role_arn ?? '',
      profileArn: message.profile_arn ?? '',
      trustAnchorArn: message.trust_anchor_arn ?? '',
      sessionName: message.role_session_name ?? '',
      durationS: duration === undefined ? ANYWHERE_SECONDS : durationMs(duration) / 1000,
      certificate: sourceOf(certificate),
      ...optional('certificateChain', chain && sourceOf(chain)),
      privateKey: sourceOf(key),
      endpoint: serviceEndpoint('rolesanywhere', region),
      region,
    },
  ];
}

/** A file is read when credentials are asked for, everything else now: a variable may be missing. */
function sourceOf(message: DataSource): CredentialSource {
  const { filename: path, watched_directory: watched } = message;
  if (path !== undefined) return { path, ...optional('watchedDirectory', watched?.path) };
  const { inline_bytes: bytes, environment_variable: variable } = message;
  if (bytes !== undefined) return { text: Buffer.from(bytes, 'base64').toString() };
  if (variable !== undefined) return { text: environmentVariable(variable) ?? '' };
  return { text: message.inline_string ?? '' };
}
