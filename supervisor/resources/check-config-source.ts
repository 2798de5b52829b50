/**
 * What must be there for a configuration source: its cluster, its paths, a protocol that can carry
 * it.
 */
import { meantCluster } from './meant-name.ts';
import type { ConfigSource } from '../resolved/config-source.ts';
import { existsSync } from 'node:fs';
import type { GrpcTarget } from '../../shared/resources/grpc-target.ts';
import type { Scope } from './scope.ts';

/** What must be true before anything is fetched; each text is Envoy's. */
export function checkConfigSource(
  source: ConfigSource,
  isStaticCluster: (name: string) => boolean,
  scope: Scope,
): void {
  switch (source.kind) {
    case 'path':
      return checkPaths(source, scope);
    case 'rest':
      return checkApiCluster(source.cluster, isStaticCluster, scope);
    case 'grpc':
      if (source.target.kind === 'uri') return;
      return checkApiCluster(source.target.cluster, isStaticCluster, scope);
    case 'script':
    case 'ads':
  }
}

function checkPaths(
  { path, watchedDirectory }: Extract<ConfigSource, { readonly kind: 'path' }>,
  scope: Scope,
): void {
  if (!existsSync(path)) {
    const text = `paths must refer to an existing path in the system: '${path}' does not exist`;
    scope.error('file', text);
  }
  if (watchedDirectory !== undefined && !existsSync(watchedDirectory)) {
    const text = `unable to add filesystem watch for file ${watchedDirectory}/: No such file or directory`;
    scope.error('file', text);
  }
}

function checkApiCluster(
  cluster: string,
  isStaticCluster: (name: string) => boolean,
  scope: Scope,
): void {
  if (isStaticCluster(cluster)) return;
  scope.error(
    'reference',
    'envoy.config.core.v3.ApiConfigSource must have a statically defined non-EDS cluster: ' +
      `'${cluster}' does not exist, was added via api, or is an EDS cluster`,
    meantCluster(cluster, scope),
  );
}

/** Clusters that get their own hosts from a control plane cannot be the way to one. */
export function canCarryDiscovery(
  cluster:
    | { readonly discovery?: { readonly kind: string; readonly source?: ConfigSource } }
    | undefined,
): boolean {
  if (cluster === undefined) return false;
  const { discovery } = cluster;
  if (discovery?.kind !== 'endpoints') return true;
  return discovery.source?.kind === 'path' || discovery.source?.kind === 'script';
}

export function checkGrpcTarget(
  target: GrpcTarget,
  isStaticCluster: (name: string) => boolean,
  scope: Scope,
): void {
  if (target.kind === 'cluster' && !isStaticCluster(target.cluster)) {
    const text = `Unknown gRPC client cluster '${target.cluster}'`;
    scope.error('reference', text, meantCluster(target.cluster, scope));
  }
}
