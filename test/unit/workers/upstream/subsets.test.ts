import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HostResource } from '../../../../shared/resources/clusters/cluster.ts';
import type { SubsetOptions } from '../../../../shared/resources/clusters/subset-policy.ts';
import { CLUSTER } from '../../../../shared/stats/templates/cluster.ts';
import { HeaderMap } from '../../../../workers/stream/header-map.ts';
import { WorkerStatStore } from '../../../../workers/stats/worker-stat-store.ts';
import { ActiveRequests } from '../../../../workers/upstream/hosts/active-requests.ts';
import { UpstreamHost } from '../../../../workers/upstream/hosts/host.ts';
import {
  updateBalancer,
  type LoadBalancer,
} from '../../../../workers/upstream/balancing/load-balancer.ts';
import { type SubsetCriteria } from '../../../../workers/stream/route.ts';
import { makeBalancer } from '../../../../workers/upstream/balancing/lb-policies.ts';
import { balancerContext } from '../../../support/parts/balancers.ts';
import { host } from '../../../support/parts/data-plane.ts';

const OPTIONS: SubsetOptions = {
  fallback: 'NO_FALLBACK',
  defaultSubset: {},
  selectors: [{ keys: ['stage', 'version'], isSingleHost: false, fallbackKeys: [] }],
  allowsRedundantKeys: false,
  weighsLocalities: false,
  scalesLocalityWeight: false,
  panicsToAny: false,
  listsAsAny: false,
  triesFallbackList: false,
};

interface Subsets {
  readonly balancer: LoadBalancer;
  readonly counts: Record<string, number>;
  /** The ports that so many choices lead to. */
  readonly ask: (criteria: SubsetCriteria | undefined) => readonly number[];
  readonly update: (hosts: readonly UpstreamHost[]) => void;
}

const stats = new WorkerStatStore();
const active = new ActiveRequests();

function tagged(
  port: number,
  metadata: Record<string, unknown>,
  facts: Partial<HostResource> = {},
): UpstreamHost {
  return new UpstreamHost(
    host(port, { metadata: { 'envoy.lb': metadata }, ...facts }),
    'c',
    stats,
    active,
  );
}

const HOSTS = [
  tagged(1, { stage: 'prod', version: 1 }),
  tagged(2, { stage: 'prod', version: 2 }),
  tagged(3, { stage: 'dev', version: 2 }),
  tagged(4, { stage: 'prod', version: 2 }),
  tagged(5, {}),
];

function subsets(changes: Partial<SubsetOptions> = {}, hosts = HOSTS): Subsets {
  const counts: Record<string, number> = {};
  const names = Object.entries(CLUSTER.index);
  const note = (offset: number, change: number): void => {
    const [name = ''] = names.find(([, at]) => at === offset) ?? [];
    counts[name] = (counts[name] ?? 0) + change;
  };
  const balancer = makeBalancer(
    { kind: 'subset', options: { ...OPTIONS, ...changes }, child: { kind: 'round_robin' } },
    balancerContext({ count: (offset) => note(offset, 1), countStructure: note }),
  );
  updateBalancer(balancer, hosts, 140);
  const ask = (subset: SubsetCriteria | undefined): readonly number[] => {
    const context = {
      requestHeaders: new HeaderMap(),
      subset,
      computeHash: () => undefined,
      maxHostDraws: 0,
      refusesHost: () => false,
    };
    const ports = Array.from({ length: 12 }, () => balancer.choose(context, 0)?.port ?? 0);
    return [...new Set(ports)].sort((left, right) => left - right);
  };
  return { balancer, counts, ask, update: (next) => updateBalancer(balancer, next, 140) };
}

describe('a cluster with subsets', () => {
  it('takes hosts whose metadata has all that the request names, and only such', () => {
    const { ask, counts } = subsets();
    assert.deepEqual(ask({ stage: 'prod', version: 2 }), [2, 4]);
    assert.deepEqual(ask({ version: 2, stage: 'dev' }), [3]);
    assert.equal(counts['lb_subsets_selected'], 24);
    assert.deepEqual(ask({ stage: 'prod', version: 3 }), [0]);
    assert.deepEqual(ask({ stage: 'prod' }), [0], 'no selector has this key alone');
    assert.deepEqual(ask(undefined), [0]);
    assert.equal(counts['lb_subsets_fallback'], undefined);
  });

  it('falls back to any host or to the default subset', () => {
    const any = subsets({ fallback: 'ANY_ENDPOINT' });
    assert.deepEqual(any.ask({ stage: 'test', version: 1 }), [1, 2, 3, 4, 5]);
    assert.equal(any.counts['lb_subsets_fallback'], 12);
    const named = subsets({ fallback: 'DEFAULT_SUBSET', defaultSubset: { stage: 'prod' } });
    assert.deepEqual(named.ask(undefined), [1, 2, 4]);
  });

  it('obeys the fallback of the selector before that of the cluster', () => {
    const selector = { keys: ['version'], isSingleHost: false, fallbackKeys: [] };
    const strict = { ...selector, fallback: 'NO_FALLBACK' } as const;
    const { ask } = subsets({ fallback: 'ANY_ENDPOINT', selectors: [strict] });
    assert.deepEqual(ask({ version: 9 }), [0]);
    assert.deepEqual(ask({ colour: 'red' }), [1, 2, 3, 4, 5]);
  });

  it('tries fewer keys where the selector says so', () => {
    const { ask } = subsets({
      selectors: [
        {
          keys: ['stage', 'version'],
          isSingleHost: false,
          fallback: 'KEYS_SUBSET',
          fallbackKeys: ['stage'],
        },
        { keys: ['stage'], isSingleHost: false, fallbackKeys: [] },
      ],
    });
    assert.deepEqual(ask({ stage: 'prod', version: 7 }), [1, 2, 4]);
  });

  it('lets a request name more keys than a selector has, where that is allowed', () => {
    const { ask } = subsets({ allowsRedundantKeys: true });
    assert.deepEqual(ask({ stage: 'prod', version: 2, colour: 'red' }), [2, 4]);
  });

  it('puts a host with a list into the subset of each value, where lists count so', () => {
    const selectors = [{ keys: ['zone'], isSingleHost: false, fallbackKeys: [] }];
    const hosts = [tagged(1, { zone: ['a', 'b'] }), tagged(2, { zone: 'b' })];
    assert.deepEqual(subsets({ selectors, listsAsAny: true }, hosts).ask({ zone: 'b' }), [1, 2]);
    assert.deepEqual(subsets({ selectors }, hosts).ask({ zone: 'b' }), [2]);
  });

  it("leaves out the fallback of a selector whose keys begin an earlier one's", () => {
    const longer = { keys: ['stage', 'version'], isSingleHost: false, fallbackKeys: [] };
    const strict = { keys: ['stage'], isSingleHost: false, fallback: 'NO_FALLBACK' } as const;
    const ofTwo = (selectors: SubsetOptions['selectors']): readonly number[] =>
      subsets({ fallback: 'ANY_ENDPOINT', selectors }).ask({ stage: 'none' });
    assert.deepEqual(ofTwo([longer, { ...strict, fallbackKeys: [] }]), [1, 2, 3, 4, 5]);
    assert.deepEqual(ofTwo([{ ...strict, fallbackKeys: [] }, longer]), [0]);
  });

  it('takes any host when the fallback has none, where panic allows it', () => {
    const defaultSubset = { stage: 'nowhere' };
    const { ask, counts } = subsets({
      fallback: 'DEFAULT_SUBSET',
      defaultSubset,
      panicsToAny: true,
    });
    assert.deepEqual(ask(undefined), [1, 2, 3, 4, 5]);
    assert.equal(counts['lb_subsets_fallback_panic'], 12);
  });

  it('tries what a fallback list names, one after the other', () => {
    const { ask } = subsets({ triesFallbackList: true });
    const list = [{ version: 9 }, { version: 1 }, { version: 2 }];
    assert.deepEqual(ask({ stage: 'prod', fallback_list: list }), [1]);
  });

  it('makes and drops subsets as hosts come and go', () => {
    const { counts, update, ask } = subsets();
    assert.equal(counts['lb_subsets_created'], 3);
    update(HOSTS.slice(0, 2));
    assert.equal(counts['lb_subsets_removed'], 1);
    assert.equal(counts['lb_subsets_active'], 2);
    assert.deepEqual(ask({ stage: 'prod', version: 2 }), [2]);
  });
});
