/** Names the virtual cluster that a request is counted in. */
import type { VirtualHost } from '../../shared/resources/routes/route.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { OTHER_VIRTUAL_CLUSTER } from '../stream/route.ts';
import { compileHeaderMatchers } from '../../shared/matchers/header-matcher.ts';

export type VirtualClusterOf = (headers: HeaderMap) => string;

export function compileVirtualClusters({ virtualClusters }: VirtualHost): VirtualClusterOf {
  if (virtualClusters.length === 0) return () => '';
  const clusters = virtualClusters.map(({ name, headers }) => ({
    name,
    matches: compileHeaderMatchers(headers) ?? (() => true),
  }));
  return (headers) =>
    clusters.find(({ matches }) => matches(headers))?.name ?? OTHER_VIRTUAL_CLUSTER;
}
