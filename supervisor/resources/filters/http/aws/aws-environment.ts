/**
 * What the environment and the files of AWS's tools say before any credentials: regions, profiles,
 * and where services are.
 */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { iniSection } from '../../../../aws/ini-file.ts';
import { readConfiguredFileNow } from '../../../../config/configured-file.ts';
import { environmentVariable } from '../../../../../shared/process/environment.ts';
import type { SigningAlgorithm } from '../../../../../shared/aws/signature.ts';

const FILES = {
  credentials: { variable: 'AWS_SHARED_CREDENTIALS_FILE', name: 'credentials' },
  config: { variable: 'AWS_CONFIG_FILE', name: 'config' },
} as const;
const FILE_BYTES_MAX = 1024 * 1024;

export function awsFile(kind: keyof typeof FILES): string {
  const { variable, name } = FILES[kind];
  return environmentVariable(variable) ?? `${homedir()}/.aws/${name}`;
}

export function profileName(): string {
  return environmentVariable('AWS_PROFILE') ?? 'default';
}

/** Empty: nothing says it. */
export function regionOfEnvironment(algorithm: SigningAlgorithm): string {
  if (algorithm === 'v4a') {
    const set = environmentVariable('AWS_SIGV4A_SIGNING_REGION_SET');
    const ofFile = set ?? fromFiles('sigv4a_signing_region_set');
    if (ofFile !== undefined) return ofFile;
  }
  return (
    environmentVariable('AWS_REGION') ??
    environmentVariable('AWS_DEFAULT_REGION') ??
    fromFiles('region') ??
    ''
  );
}

/** AWS's own variables name another endpoint, for a gateway on the way or a test. */
export function serviceEndpoint(service: 'sts' | 'rolesanywhere', regions: string): string {
  const variable = service === 'sts' ? 'STS' : 'ROLESANYWHERE';
  const own =
    environmentVariable(`AWS_ENDPOINT_URL_${variable}`) ?? environmentVariable('AWS_ENDPOINT_URL');
  if (own !== undefined) return own.replace(/\/$/, '');
  const region = regions.split(',')[0] ?? '';
  const isFips = environmentVariable('AWS_USE_FIPS_ENDPOINT') === 'true';
  const host = isFips ? `${service}-fips` : service;
  if (region === '' || region.includes('*')) {
    return isFips ? `https://${host}.us-east-1.amazonaws.com` : `https://${host}.amazonaws.com`;
  }
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return `https://${host}.${region}.${domain}`;
}

function fromFiles(key: string): string | undefined {
  const profile = profileName();
  return (
    valueIn(awsFile('credentials'), profile, key) ??
    valueIn(awsFile('config'), profile === 'default' ? profile : `profile ${profile}`, key)
  );
}

function valueIn(path: string, section: string, key: string): string | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return iniSection(readConfiguredFileNow(path, FILE_BYTES_MAX).toString(), section).get(key);
  } catch {
    // An unreadable file says nothing, as in Envoy.
    return undefined;
  }
}
