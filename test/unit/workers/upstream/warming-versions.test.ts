import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HEALTH_BITS } from '../../../../shared/resources/clusters/host-health.ts';
import { ClusterManager } from '../../../../workers/upstream/cluster-manager.ts';
import { clusterContext } from '../../../support/parts/balancers.ts';
import { cluster, host } from '../../../support/parts/data-plane.ts';

describe('a version of a cluster that warms in a worker', () => {
  const [first, second] = [host(1), host(2)];
  const started = (): ClusterManager => {
    const manager = new ClusterManager(clusterContext());
    void manager.apply({ op: 'put_cluster', cluster: cluster('c') });
    void manager.apply({ op: 'put_hosts', hosts: setOf(first) });
    void manager.apply({ op: 'put_cluster', cluster: cluster('c'), isWarming: true });
    void manager.apply({ op: 'put_hosts', hosts: setOf(second), isWarming: true });
    return manager;
  };
  const setOf = (only: typeof first) => ({
    cluster: 'c',
    hosts: [only],
    overprovisioningFactor: 140,
  });
  const hostsOf = (manager: ClusterManager): readonly string[] | undefined =>
    manager.get('c')?.hosts.map(({ id }) => id);

  it('is not what requests use, and takes the place of that with its hosts', () => {
    const manager = started();
    assert.deepEqual(hostsOf(manager), [first.id]);
    const bits = [[second.id, HEALTH_BITS.failed_active_hc]] as const;
    void manager.apply({ op: 'put_host_health', cluster: 'c', bits, isWarming: true });
    void manager.apply({ op: 'promote_cluster', name: 'c' });
    assert.deepEqual(hostsOf(manager), [second.id]);
    assert.equal(manager.get('c')?.hosts[0]?.health, 'unhealthy');
    manager.close();
  });

  it('goes by itself, and where there is none nothing takes the place', () => {
    const manager = started();
    void manager.apply({ op: 'remove_cluster', name: 'c', isWarming: true });
    void manager.apply({ op: 'promote_cluster', name: 'c' });
    assert.deepEqual(hostsOf(manager), [first.id]);
    manager.close();
  });

  it('stays when the one in use goes', () => {
    const manager = started();
    void manager.apply({ op: 'remove_cluster', name: 'c' });
    assert.equal(manager.get('c'), undefined);
    void manager.apply({ op: 'promote_cluster', name: 'c' });
    assert.deepEqual(hostsOf(manager), [second.id]);
    manager.close();
  });
});
