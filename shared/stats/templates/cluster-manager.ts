/** Statistics of the cluster manager and of each thread's share in it. */
import { defineTemplate } from '../template.ts';
import { counter, ownGauge } from './spec.ts';

/** Prefix: `cluster_manager.` */
export const CLUSTER_MANAGER = defineTemplate('cluster_manager', {
  active_clusters: ownGauge('Clusters in use'),
  cluster_added: counter('Clusters added'),
  cluster_modified: counter('Clusters changed'),
  cluster_removed: counter('Clusters removed'),
  cluster_updated: counter('Updates of a set of hosts'),
  cluster_updated_via_merge: counter('Updates of a set of hosts that were merged'),
  update_merge_cancelled: counter('Merged updates that were cancelled and delivered at once'),
  update_out_of_merge_window: counter('Updates that came outside the merge window'),
  warming_clusters: ownGauge('Clusters that wait for their first hosts'),
});

/** Prefix: `thread_local_cluster_manager.<main_thread or worker_N>.` */
export const THREAD_LOCAL_CLUSTER_MANAGER = defineTemplate('thread_local_cluster_manager', {
  clusters_inflated: ownGauge('Clusters that this thread holds'),
});
