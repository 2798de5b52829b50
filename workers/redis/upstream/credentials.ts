/**
 * How a connection begins: as whom it comes, which the host's own entry says or the cluster's, and
 * whether the host agrees to RESP3. Passwords for AWS are signed for each connection.
 */
import {
  canonicalRequest,
  EMPTY_HASH,
  pathStyleOf,
} from '../../../shared/aws/canonical-request.ts';
import { readCredentials } from '../../../shared/aws/credentials-text.ts';
import { presignedPath } from '../../../shared/aws/presigned-path.ts';
import { amzDate, Signer } from '../../../shared/aws/signature.ts';
import type { RedisIam, RedisUpstreamAuth } from '../../../shared/resources/clusters/redis.ts';
import type { GenericSecret } from '../../../shared/resources/generic-secret.ts';
import { RespKind, type RespValue } from '../codec/resp-value.ts';
import type { UpstreamHost } from '../../upstream/hosts/host.ts';

/** Latin-1; both empty: not at all. */
export interface RedisCredentials {
  readonly username: string;
  readonly password: string;
}

/** Bytes that a query writes as hexadecimal digits; Envoy leaves the others as they are. */
const NOT_ASCII = /[^ -~]/g;
const NOBODY: RedisCredentials = { username: '', password: '' };

/** What passwords for AWS are made of. */
export interface IamParts {
  readonly secretText: (secret: GenericSecret) => string;
  readonly wallMs: number;
}

export function credentialsFor(
  auth: RedisUpstreamAuth | undefined,
  { address }: Pick<UpstreamHost, 'address'>,
  parts: IamParts,
): RedisCredentials {
  if (auth === undefined) return NOBODY;
  const own = auth.byAddress?.find((entry) => entry.address === address);
  if (own !== undefined) return own;
  const { iam, username } = auth;
  if (iam === undefined || username === '') return auth;
  const password = iamPassword(iam, username, parts);
  return password === undefined ? NOBODY : { username, password };
}

/** A signed request without its scheme; undefined while there are no credentials to sign with. */
function iamPassword(
  { credentials: secret, region, service, cacheName, expiresS }: RedisIam,
  username: string,
  { secretText, wallMs }: IamParts,
): string | undefined {
  const credentials = readCredentials(secretText(secret));
  if (credentials === undefined) return undefined;
  const scope = { algorithm: 'v4', service, region, date: amzDate(wallMs) } as const;
  const user = username.replaceAll(NOT_ASCII, (byte) => `%${hexOf(byte)}`);
  const presigning = { signer: new Signer(), credentials, scope, expiresS };
  const path = presignedPath(presigning, `/?Action=connect&User=${user}`, (signed) => {
    const headers = [['host', cacheName]] as const;
    const request = { method: 'GET', path: signed, headers };
    return canonicalRequest(request, EMPTY_HASH, pathStyleOf(service));
  });
  return `${cacheName}${path}`;
}

function hexOf(byte: string): string {
  return byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0');
}

/** The answer to HELLO: names and values in turn, with `proto` and the version. */
export function isAgreement({ kind, items }: RespValue): boolean {
  if (kind !== RespKind.map && kind !== RespKind.array) return false;
  const at = items.findIndex((item, index) => index % 2 === 0 && item.text === 'proto');
  const version = items[at + 1];
  return at >= 0 && version?.kind === RespKind.integer && version.text === '3';
}
