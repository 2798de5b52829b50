/**
 * How a connection begins: as whom it comes, which the host's own entry says or the cluster's, and
 * whether the host agrees to RESP3.
 */
import type { RedisUpstreamAuth } from '../../../shared/resources/clusters/redis.ts';
import { RespKind, type RespValue } from '../codec/resp-value.ts';
import type { UpstreamHost } from '../../upstream/hosts/host.ts';

/** Latin-1; both empty: not at all. */
export interface RedisCredentials {
  readonly username: string;
  readonly password: string;
}

const NOBODY: RedisCredentials = { username: '', password: '' };

export function credentialsFor(
  auth: RedisUpstreamAuth | undefined,
  { address }: Pick<UpstreamHost, 'address'>,
): RedisCredentials {
  if (auth === undefined) return NOBODY;
  return auth.byAddress?.find((entry) => entry.address === address) ?? auth;
}

/** The answer to HELLO: names and values in turn, with `proto` and the version. */
export function isAgreement({ kind, items }: RespValue): boolean {
  if (kind !== RespKind.map && kind !== RespKind.array) return false;
  const at = items.findIndex((item, index) => index % 2 === 0 && item.text === 'proto');
  const version = items[at + 1];
  return at >= 0 && version?.kind === RespKind.integer && version.text === '3';
}
