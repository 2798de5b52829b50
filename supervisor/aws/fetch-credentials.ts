/**
 * Gets AWS credentials from the providers of a chain, one after the other, until one has some. What
 * a provider says is checked before it is used; a provider that fails is like one that has none.
 */
import type { OutgoingHttpHeaders } from 'node:http';
import type {
  AssumedRole,
  ContainerCredentials,
  CredentialProvider,
  CredentialsFile,
  CredentialSource,
  WebIdentity,
} from '../../shared/aws/credential-provider.ts';
import { canonicalRequest, EMPTY_HASH, pathStyleOf } from '../../shared/aws/canonical-request.ts';
import { amzDate, authorization, Signer, type AwsCredentials } from '../../shared/aws/signature.ts';
import { readConfiguredFile } from '../config/configured-file.ts';
import { errorText } from '../../shared/text/error-text.ts';
import { readAnswer, type FetchedCredentials } from './credentials-answer.ts';
import { iniSection } from './ini-file.ts';
import { askRolesAnywhere } from './roles-anywhere.ts';
import { askService } from './small-request.ts';

export type { FetchedCredentials } from './credentials-answer.ts';

export interface FetchOptions {
  readonly signal: AbortSignal;
  readonly wallMs: () => number;
  /** Why a provider has none. */
  readonly failed: (provider: CredentialProvider, reason: string) => void;
}

const FILE_BYTES_MAX = 1024 * 1024;
const METADATA = '/latest/meta-data/iam/security-credentials/';
const METADATA_TOKEN_SECONDS = '21600';
const STS_VERSION = '2011-06-15';

/** Undefined: no provider has any. */
export async function fetchCredentials(
  chain: readonly CredentialProvider[],
  options: FetchOptions,
): Promise<FetchedCredentials | undefined> {
  for (const provider of chain) {
    try {
      const fetched = await askProvider(provider, options);
      if (fetched !== undefined) return fetched;
    } catch (error) {
      options.failed(provider, errorText(error));
    }
  }
  return undefined;
}

async function askProvider(
  provider: CredentialProvider,
  options: FetchOptions,
): Promise<FetchedCredentials | undefined> {
  switch (provider.kind) {
    case 'fixed':
      return { credentials: provider.credentials };
    case 'file':
      return await readFile(provider);
    case 'container':
      return await askContainer(provider, options);
    case 'instance':
      return await askInstance(provider.endpoint, options);
    case 'web_identity':
      return await askWebIdentity(provider, options);
    case 'assume_role':
      return await assumeRole(provider, options);
    case 'roles_anywhere':
      return await askRolesAnywhere(provider, readSource, options);
  }
}

async function readSource(source: CredentialSource): Promise<string> {
  if ('text' in source) return source.text;
  return (await readConfiguredFile(source.path, FILE_BYTES_MAX)).toString();
}

/** A file that is not there is no failure: most chains name one. */
async function readFile(provider: CredentialsFile): Promise<FetchedCredentials | undefined> {
  const { source, profile, isConfig = false } = provider;
  let text: string;
  try {
    text = await readSource(source);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const section = isConfig && profile !== 'default' ? `profile ${profile}` : profile;
  const values = iniSection(text, section);
  const accessKeyId = values.get('aws_access_key_id') ?? '';
  const secretAccessKey = values.get('aws_secret_access_key') ?? '';
  if (accessKeyId === '' || secretAccessKey === '') return undefined;
  const sessionToken = values.get('aws_session_token') ?? '';
  return { credentials: { accessKeyId, secretAccessKey, sessionToken } };
}

async function askContainer(
  { url, token }: ContainerCredentials,
  { signal }: FetchOptions,
): Promise<FetchedCredentials> {
  const headers = token === undefined ? {} : { authorization: (await readSource(token)).trim() };
  return readAnswer(await askService({ url, headers }, signal), []);
}

/** With a session token of the metadata service where it gives one, else without. */
async function askInstance(
  endpoint: string,
  { signal }: FetchOptions,
): Promise<FetchedCredentials> {
  const asked = { 'x-aws-ec2-metadata-token-ttl-seconds': METADATA_TOKEN_SECONDS };
  const url = `${endpoint}/latest/api/token`;
  const token = await askService({ url, method: 'PUT', headers: asked }, signal).catch(() => '');
  const headers = token === '' ? {} : { 'x-aws-ec2-metadata-token': token };
  const roles = await askService({ url: `${endpoint}${METADATA}`, headers }, signal);
  const role = roles.split('\n')[0]?.trim() ?? '';
  if (role === '') throw new Error('the instance has no role');
  const path = `${METADATA}${encodeURIComponent(role)}`;
  return readAnswer(await askService({ url: `${endpoint}${path}`, headers }, signal), []);
}

async function askWebIdentity(
  provider: WebIdentity,
  { signal }: FetchOptions,
): Promise<FetchedCredentials> {
  const query = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: STS_VERSION,
    RoleSessionName: provider.sessionName,
    RoleArn: provider.roleArn,
    WebIdentityToken: (await readSource(provider.token)).trim(),
  });
  const url = `${provider.endpoint}/?${query.toString()}`;
  const text = await askService({ url, headers: { accept: 'application/json' } }, signal);
  const name = 'AssumeRoleWithWebIdentity';
  return readAnswer(text, [`${name}Response`, `${name}Result`, 'Credentials']);
}

async function assumeRole(
  provider: AssumedRole,
  options: FetchOptions,
): Promise<FetchedCredentials> {
  const base = await fetchCredentials(provider.chain, options);
  if (base === undefined) throw new Error('there are no credentials to assume the role with');
  const { externalId, durationS } = provider;
  const query = new URLSearchParams({
    Action: 'AssumeRole',
    Version: STS_VERSION,
    RoleArn: provider.roleArn,
    RoleSessionName: provider.sessionName,
    ...(durationS === undefined ? {} : { DurationSeconds: String(durationS) }),
    ...(externalId === '' ? {} : { ExternalId: externalId }),
  });
  const path = `/?${query.toString()}`;
  const headers = signedHeaders(provider, path, base.credentials, options.wallMs());
  const text = await askService({ url: `${provider.endpoint}${path}`, headers }, options.signal);
  return readAnswer(text, ['AssumeRoleResponse', 'AssumeRoleResult', 'Credentials']);
}

function signedHeaders(
  { endpoint, region }: AssumedRole,
  path: string,
  credentials: AwsCredentials,
  wallMs: number,
): OutgoingHttpHeaders {
  const { host } = new URL(endpoint);
  const { sessionToken } = credentials;
  const date = amzDate(wallMs);
  const headers = {
    accept: 'application/json',
    'x-amz-content-sha256': EMPTY_HASH,
    'x-amz-date': date,
    ...(sessionToken === '' ? {} : { 'x-amz-security-token': sessionToken }),
  };
  const signed = [...Object.entries(headers), ['host', host] as const];
  const request = { method: 'GET', path, headers: signed };
  const canonical = canonicalRequest(request, EMPTY_HASH, pathStyleOf('sts'));
  const scope = { algorithm: 'v4', service: 'sts', region, date } as const;
  return { ...headers, authorization: authorization(new Signer(), credentials, scope, canonical) };
}
