/** Names the virtual cluster that a request is counted in. */
import type { VirtualHost } from '../../shared/resources/route.ts';
import type { HeaderMap } from '../http/header-map.ts';
import { compileHeaderMatchers } from '../../shared/matchers/header-matcher.ts';

export type VirtualClusterOf = (headers: HeaderMap) => string;

/** What the reference calls requests that fit none of a virtual host's virtual clusters. */
export const OTHER_VIRTUAL_CLUSTER = 'other';

export function compileVirtualClusters({ virtualClusters }: VirtualHost): VirtualClusterOf {
  if (virtualClusters.length === 0) return () => '';
  const clusters = virtualClusters.map(({ name, headers }) => ({
    name,
    matches: compileHeaderMatchers(headers) ?? (() => true),
  }));
  return (headers) =>
    clusters.find(({ matches }) => matches(headers))?.name ?? OTHER_VIRTUAL_CLUSTER;
}
