import { NO_ORDERS } from '../../../../supervisor/upstreams/hosts/host-orders.ts';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { systemClock } from '../../../../shared/process/clock.ts';
import { createBreakerPage } from '../../../../shared/limits/breaker-page.ts';
import {
  mayBeLazy,
  type ClusterWithHosts,
} from '../../../../shared/resources/clusters/lazy-clusters.ts';
import type { ClusterResource } from '../../../../shared/resources/clusters/cluster.ts';
import type { ResourceUpdate } from '../../../../shared/resources/resource-update.ts';
import { EventLogs } from '../../../../supervisor/health/event-log.ts';
import { ResourceStore } from '../../../../supervisor/store/resource-store.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { LazyBatches } from '../../../../supervisor/store/lazy-batches.ts';
import { UpstreamClusters } from '../../../../supervisor/upstreams/upstream-clusters.ts';
import { ClusterManager } from '../../../../workers/upstream/cluster-manager.ts';
import { LazyClusters } from '../../../../workers/upstream/lazy-clusters.ts';
import { clusterContext } from '../../../support/parts/balancers.ts';
import { cluster, host } from '../../../support/parts/data-plane.ts';

const withHosts = (name: string, changes: Partial<ClusterResource> = {}): ClusterWithHosts => ({
  cluster: cluster(name, changes),
  hosts: { cluster: name, hosts: [], overprovisioningFactor: 140 },
});

const many = (count: number): readonly ClusterWithHosts[] =>
  Array.from({ length: count }, (_, index) => withHosts(`service_${index}`));

const unused = (): never => assert.fail('a static cluster needs none');

/** As the supervisor follows them; `sent` is what workers get beside their first resources. */
function followed(store: ResourceStore, sent: ResourceUpdate[]): UpstreamClusters {
  return new UpstreamClusters({
    orders: NO_ORDERS,
    store,
    writer: new StatStore(),
    clock: systemClock,
    random: Math.random,
    pages: { breakerFd: createBreakerPage(1), outlierFd: -1, rateLimitFd: -1, scriptFd: -1 },
    concurrency: 1,
    runtime: () => new Map(),
    eventLogs: new EventLogs(unused),
    outlierLogPath: undefined,
    send: (updates) => Promise.resolve(sent.push(...updates)),
    tell: (updates) => void sent.push(...updates),
    counted: () => undefined,
    countUpdate: () => undefined,
  });
}

function putStatic(store: ResourceStore, name: string): void {
  const { cluster: resource, hosts } = withHosts(name);
  const resolved = {
    resource,
    hosts: { ...hosts, hosts: [host(80)] },
    observabilityName: name,
    secrets: [],
  };
  store.putActive('cluster', name, { message: {}, versionInfo: '', lastUpdatedMs: 0, resolved });
}

const packedOf = (update: ResourceUpdate | undefined): Uint8Array => {
  assert.equal(update?.op, 'put_idle_clusters');
  return update?.op === 'put_idle_clusters' ? update.packed : new Uint8Array();
};

describe('clusters that nobody uses yet', () => {
  it('come out of their batch as they were put in, once', () => {
    const clusters = many(250);
    const idle = new LazyClusters();
    for (const update of new LazyBatches().updates(clusters)) {
      if (update.op === 'put_idle_clusters') idle.put(update.names, update.packed);
    }
    assert.deepEqual(idle.take('service_201'), clusters[201]);
    assert.deepEqual(idle.take('service_249'), clusters[249]);
    assert.equal(idle.take('service_201'), undefined);
    assert.equal(idle.take('unknown'), undefined);
  });

  it('take other hosts without being unpacked', () => {
    const clusters = many(3);
    const idle = new LazyClusters();
    const [update] = new LazyBatches().updates(clusters);
    idle.put(
      clusters.map((each) => each.cluster.name),
      packedOf(update),
    );
    const hosts = { cluster: 'service_1', hosts: [], overprovisioningFactor: 200 };
    assert.equal(idle.putHosts(hosts), true);
    assert.equal(idle.putHosts({ ...hosts, cluster: 'unknown' }), false);
    assert.deepEqual(idle.take('service_1'), { cluster: clusters[1]?.cluster, hosts });
    assert.deepEqual(idle.take('service_2'), clusters[2]);
  });

  it('are not woken at the start by hosts that come apart from them', async () => {
    const store = new ResourceStore();
    for (const { cluster: resource } of many(3)) putStatic(store, resource.name);
    const sent: ResourceUpdate[] = [];
    const clusters = followed(store, sent);
    clusters.start({
      makeEndpointSource: unused,
      makeSubClusterSource: unused,
      secrets: { use: unused },
      filters: { use: unused },
      clustersWarming: () => undefined,
    });
    await setImmediate();
    await setImmediate();
    assert.deepEqual(sent, []);
    putStatic(store, 'service_1');
    await setImmediate();
    assert.notEqual(sent.length, 0, 'later changes are sent');
    clusters.close();
  });

  it('are made at once where there are few, so that no request waits for it', () => {
    const putUnreadable = (count: number) => (): void => {
      const names = many(count).map((each) => each.cluster.name);
      const manager = new ClusterManager(clusterContext());
      void manager.apply({ op: 'put_idle_clusters', names, packed: Buffer.of(0xc1) });
    };
    assert.throws(putUnreadable(8));
    assert.doesNotThrow(putUnreadable(9));
  });

  it('are packed once for workers that start together', () => {
    const clusters = many(150);
    const batches = new LazyBatches();
    const [first] = batches.updates(clusters);
    const [again] = batches.updates(clusters);
    assert.equal(packedOf(first), packedOf(again));
  });

  it('are packed again where the hosts are others', () => {
    const clusters = many(150);
    const batches = new LazyBatches();
    const [first, second] = batches.updates(clusters);
    const changed = clusters.map((both, index) =>
      index === 3 ? { ...both, hosts: { ...both.hosts, hosts: [] } } : both,
    );
    const [firstNow, secondNow] = batches.updates(changed);
    assert.notEqual(packedOf(first), packedOf(firstNow));
    assert.equal(packedOf(second), packedOf(secondNow));
  });

  it('are not those for which a worker has something to do at once', () => {
    const { circuitBreakers } = cluster('web');
    const closed = { ...circuitBreakers.DEFAULT, maxRequests: 0 };
    const watched = { ...circuitBreakers.HIGH, trackRemaining: true };
    assert.equal(mayBeLazy(withHosts('web')), true);
    for (const changes of [
      { lbPolicy: { kind: 'maglev' } },
      { circuitBreakers: { ...circuitBreakers, DEFAULT: closed } },
      { circuitBreakers: { ...circuitBreakers, HIGH: watched } },
    ] as const) {
      assert.equal(mayBeLazy(withHosts('web', changes)), false);
    }
  });
});
