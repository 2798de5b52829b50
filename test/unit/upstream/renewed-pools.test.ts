import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HostResource } from '../../../shared/resources/cluster.ts';
import { UpstreamCluster } from '../../../workers/upstream/cluster.ts';
import { clusterContext } from '../../support/balancers.ts';
import { cluster, host } from '../../support/data-plane.ts';

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
});
