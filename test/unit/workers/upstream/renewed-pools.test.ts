import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HostResource } from '../../../../shared/resources/clusters/cluster.ts';
import { HEALTH_BITS } from '../../../../shared/resources/clusters/host-health.ts';
import { UpstreamCluster } from '../../../../workers/upstream/cluster.ts';
import type { TcpPoolClient } from '../../../../workers/upstream/pools/tcp-pool-connection.ts';
import { clusterContext } from '../../../support/parts/balancers.ts';
import { cluster, host } from '../../../support/parts/data-plane.ts';
import { connectionInfo } from '../../../support/parts/stream.ts';
import { CLOSED_PORT } from '../../../support/peers/upstream.ts';

describe('connections of a cluster whose hosts change', () => {
  for (const [title, renews] of [
    ['stay with the hosts that stay', false],
    ['are other ones for all hosts where the cluster wants it so', true],
  ] as const) {
    it(title, () => {
      const resource = cluster('c', renews ? { renewsPoolsWithHosts: true } : {});
      const made = new UpstreamCluster(resource, clusterContext());
      const put = (...hosts: readonly HostResource[]): void =>
        made.putHostsNow({ cluster: 'c', hosts, overprovisioningFactor: 140 });
      put(host(1), host(2));
      const [first] = made.hosts;
      assert.ok(first !== undefined);
      const { pools } = first;
      put(host(1), host(2, { health: 'unhealthy' }));
      assert.equal(first.pools, pools, 'health is no change of the hosts');
      put(host(1), host(2), host(3));
      assert.equal(first.pools !== pools, renews);
      const later = first.pools;
      put(host(1), host(3));
      assert.equal(first.pools !== later, renews);
      made.close();
    });
  }

  it('end with their host where the cluster wants it so, and who waits for one is told', () => {
    const resource = cluster('c', { closeConnectionsOnHostHealthFailure: true });
    const made = new UpstreamCluster(resource, clusterContext());
    const put = (each: HostResource): void =>
      made.putHostsNow({ cluster: 'c', hosts: [each], overprovisioningFactor: 140 });
    put(host(CLOSED_PORT));
    const [only] = made.hosts;
    assert.ok(only !== undefined);
    const pool = made.tcpPoolOf(only, connectionInfo());
    const failures: string[] = [];
    pool.newStream(waiter((reason) => failures.push(reason)));
    assert.deepEqual(pool.load, { pending: 1, active: 0, capacity: 1 });
    const healthBits = HEALTH_BITS.failed_active_hc;
    put(host(CLOSED_PORT, { health: 'unhealthy', healthBits }));
    assert.deepEqual(failures, ['local_reset']);
    assert.deepEqual(pool.load, { pending: 0, active: 0, capacity: 0 });
    made.close();
  });
});

function waiter(onPoolFailure: TcpPoolClient['onPoolFailure']): TcpPoolClient {
  const never = (): never => assert.fail('there is no connection');
  return {
    next: undefined,
    previous: undefined,
    onPoolFailure,
    onPoolReady: never,
    onData: never,
    onRemoteEnd: never,
    onWriteBlocked: never,
    onConnectionEnd: never,
  };
}
