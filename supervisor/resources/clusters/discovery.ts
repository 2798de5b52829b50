/** Where a cluster's hosts come from: written in the configuration, or a source refused by name. */
import type { Cluster } from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import { ExtensionRegistry } from '../extensions.ts';
import type { Scope } from '../scope.ts';

const CLUSTER_TYPES = new ExtensionRegistry<never>('cluster type', []);

/** Whether the hosts are those of `load_assignment`. */
export function checkDiscovery(message: Cluster, scope: Scope): boolean {
  const { cluster_type: custom, type = 'STATIC', eds_cluster_config: eds } = message;
  if (custom !== undefined) {
    CLUSTER_TYPES.resolve(custom, scope.at('cluster_type'));
    return false;
  }
  if (type === 'EDS' && eds?.eds_config === undefined) {
    scope.error('conflict', 'cannot create an EDS cluster without an EDS config');
  } else if (type !== 'EDS' && eds !== undefined) {
    scope.at('eds_cluster_config').error('conflict', 'eds_cluster_config set in a non-EDS cluster');
  }
  if (type === 'STATIC') return true;
  scope.at('type').unsupported(`cluster type ${type} is`, 'there is STATIC');
  return false;
}
