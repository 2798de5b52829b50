/** What the log says of a subscription, in Envoy's words, which go by how answers come. */
import type { ConfigSource } from '../../resolved/config-source.ts';
import type { ResourceType } from '../../resolved/resource-kinds.ts';

export interface SubscriptionTexts {
  rejected(reason: string): string;
  failed(reason: string): string;
  readonly timedOut: string;
}

export function wordsOf(
  kind: ConfigSource['kind'],
  { typeUrl, restPath }: Pick<ResourceType, 'typeUrl' | 'restPath'>,
): SubscriptionTexts {
  if (kind === 'path') {
    return {
      rejected: (reason) => `Filesystem config update rejected: ${reason}`,
      failed: (reason) => `Filesystem config update failure: ${reason}`,
      timedOut: `Filesystem config: initial fetch timed out for ${typeUrl}`,
    };
  }
  if (kind === 'script') {
    return {
      rejected: (reason) => `hosts of a module rejected: ${reason}`,
      failed: (reason) => `hosts of a module: ${reason}`,
      timedOut: 'hosts of a module: the first list was not there in time',
    };
  }
  if (kind === 'rest') {
    return {
      rejected: (reason) => `REST config for ${restPath} rejected: ${reason}`,
      failed: (reason) => `REST update for ${restPath} failed: ${reason}`,
      timedOut: `REST config: initial fetch timeout for ${restPath}`,
    };
  }
  return {
    rejected: (reason) => `gRPC config for ${typeUrl} rejected: ${reason}`,
    failed: (reason) => `gRPC update for ${typeUrl} failed: ${reason}`,
    timedOut: `gRPC config: initial fetch timed out for ${typeUrl}`,
  };
}
