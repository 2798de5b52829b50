/** Some tracers want their cluster to be there when the configuration is. */
import { meantCluster } from '../meant-name.ts';
import type { Scope } from '../scope.ts';

export function checkTracerCluster(tracer: string, cluster: string, scope: Scope): void {
  if (scope.context.isTracerCluster?.(cluster) !== false) return;
  scope.error('reference', `${tracer}: unknown cluster '${cluster}'`, meantCluster(cluster, scope));
}
