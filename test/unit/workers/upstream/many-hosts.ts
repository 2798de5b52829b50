/** Large sets of hosts, as the supervisor sends them and as a cluster takes them. */
import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import {
  type ClusterHostsResource,
  type HostResource,
} from '../../../../shared/resources/clusters/cluster.ts';
import { type HostEntry, type SentHostSet } from '../../../../shared/resources/resource-update.ts';
import { ClusterManager } from '../../../../workers/upstream/cluster-manager.ts';
import { type UpstreamCluster } from '../../../../workers/upstream/cluster.ts';
import { clusterContext } from '../../../support/parts/balancers.ts';
import { cluster, host } from '../../../support/parts/data-plane.ts';
import { joinHosts } from '../../../../shared/resources/clusters/host-parts.ts';
import { isKept, unpackHosts } from '../../../../shared/resources/clusters/host-entries.ts';
import { SentHosts } from '../../../../supervisor/upstreams/hosts/sent-hosts.ts';

export const COUNT = 3000;

export const many = (from: number, count = COUNT): readonly HostResource[] =>
  Array.from({ length: count }, (_, at) => host(from + at));

export const setOf = (hosts: readonly HostResource[]): ClusterHostsResource => ({
  cluster: 'c',
  hosts,
  overprovisioningFactor: 140,
});

export const idsOf = ({ hosts }: UpstreamCluster): readonly string[] => hosts.map(({ id }) => id);

export async function settled(upstream: UpstreamCluster, version: number): Promise<void> {
  for (let turn = 0; upstream.version < version && turn < 10_000; turn++) await setImmediate();
  assert.equal(upstream.version, version);
}

export function manager(
  kind: 'round_robin' | 'ring_hash' | 'maglev' = 'round_robin',
): ClusterManager {
  const clusters = new ClusterManager(clusterContext());
  void clusters.putCluster(cluster('c', { lbPolicy: { kind } }));
  return clusters;
}

/** What is sent of one version of a cluster, and how it is sent when its hosts are others. */
export function sender(): {
  readonly sent: SentHosts;
  readonly version: { hosts: ClusterHostsResource };
  readonly send: (hosts: readonly HostResource[]) => SentHostSet;
} {
  const sent = new SentHosts();
  const version = { hosts: setOf([]) };
  const send = (hosts: readonly HostResource[]): SentHostSet => {
    version.hosts = setOf(hosts);
    const [put] = joinHosts(sent.updatesOf(version));
    assert.equal(put?.op, 'put_hosts');
    return put.hosts;
  };
  return { sent, version, send };
}

/** As a worker with the hosts `before` reads them. */
export function unpacked(
  entries: readonly HostEntry[],
  before: readonly HostResource[],
): readonly HostResource[] {
  return entries.flatMap((entry) =>
    isKept(entry) ? before.slice(entry.from, entry.from + entry.count) : unpackHosts(entry),
  );
}
