import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HostResource } from '../../../../../shared/resources/clusters/cluster.ts';
import type { ZoneAwareOptions } from '../../../../../shared/resources/clusters/lb-policy.ts';
import { CLUSTER } from '../../../../../shared/stats/templates/cluster.ts';
import type { UpstreamHost } from '../../../../../workers/upstream/hosts/host.ts';
import { hosts, balancer, tally } from './tallied-hosts.ts';

describe('zone-aware choices', () => {
  const ownLocality = { region: '', zone: 'a', subZone: '' };
  const OPTIONS = { routingEnabled: 100, minClusterSize: 4 };
  type Places = readonly (string | Partial<HostResource>)[];
  const placed = (places: Places): readonly UpstreamHost[] =>
    hosts(places.map((place) => (typeof place === 'string' ? { zone: place } : place)));

  function shares(servers: Places, places: Places, zoneAware: ZoneAwareOptions | null = OPTIONS) {
    const counts: Record<string, number> = {};
    const names = Object.entries(CLUSTER.index);
    const note = (offset: number): void => {
      const [name = ''] = names.find(([, at]) => at === offset) ?? [];
      counts[name] = (counts[name] ?? 0) + 1;
    };
    const of = placed(servers);
    const usable = of.filter(({ health }) => health === 'healthy').length;
    const local = { hosts: of, version: 1, health: () => ({ total: of.length, usable }) };
    const policy = {
      kind: 'round_robin',
      ...(zoneAware === null
        ? {}
        : { localities: { kind: 'zone_aware' as const, options: zoneAware } }),
    } as const;
    const chosen = placed(places);
    const from = balancer(policy, chosen, {
      ownLocality,
      localCluster: () => local,
      count: note,
      countStructure: note,
    });
    const picks = 20_000;
    const own = tally(from, picks).reduce(
      (sum, count, port) => sum + (chosen[port - 1]?.zone === 'a' ? count : 0),
      0,
    );
    return { own: own / picks, counts };
  }

  it('stay in the zone while it has its share of the hosts', () => {
    const { own, counts } = shares(['a', 'b'], ['a', 'a', 'b', 'b']);
    assert.equal(own, 1);
    assert.equal(counts['lb_zone_routing_all_directly'], 20_000);
    assert.equal(counts['lb_recalculate_zone_structures'], 1);
  });

  it('leave the zone for what is too much for its hosts', () => {
    const { own, counts } = shares(['a', 'b'], ['a', 'b', 'b', 'b']);
    assert.ok(Math.abs(own - 0.5) < 0.02, `${own}`);
    assert.equal(
      (counts['lb_zone_routing_sampled'] ?? 0) + (counts['lb_zone_routing_cross_zone'] ?? 0),
      20_000,
    );
  });

  it('do not look at zones in a small cluster, or when the local cluster is sick', () => {
    const sickServers = Array.from(
      { length: 3 },
      () => ({ zone: 'b', health: 'unhealthy' }) as const,
    );
    const small = shares(['a', 'b'], ['a', 'b', 'b']);
    assert.ok(Math.abs(small.own - 1 / 3) < 0.01);
    assert.equal(small.counts['lb_zone_cluster_too_small'], 1);
    const sick = shares(['a', ...sickServers], ['a', 'b', 'b', 'b']);
    assert.ok(Math.abs(sick.own - 1 / 4) < 0.01);
    assert.equal(sick.counts['lb_local_cluster_not_ok'], 20_000);
  });

  it('are made of clusters that say nothing of zones, from six hosts on', () => {
    assert.equal(shares(['a', 'b'], ['a', 'a', 'a', 'b', 'b', 'b'], null).own, 1);
    assert.ok(shares(['a', 'b'], ['a', 'a', 'a', 'b', 'b'], null).own < 0.7);
  });

  it('stay in a zone that has the hosts that are demanded of it, with one zone of servers too', () => {
    const forced = (forceLocalZoneMinSize: number, servers = ['a', 'b']): number =>
      shares(servers, ['a', 'b', 'b', 'b'], { ...OPTIONS, forceLocalZoneMinSize }).own;
    assert.equal(forced(1), 1);
    assert.ok(forced(2) < 0.6);
    assert.equal(forced(1, ['a']), 1);
  });

  it('go by the weights of hosts where they are to', () => {
    const uneven = [
      { zone: 'a' },
      { zone: 'a' },
      { zone: 'b', weight: 3 },
      { zone: 'b', weight: 3 },
    ];
    assert.equal(shares(['a', 'b'], uneven).own, 1);
    const { own } = shares(['a', 'b'], uneven, { ...OPTIONS, countsWeights: true });
    assert.ok(Math.abs(own - 0.5) < 0.02, `${own}`);
  });
});
