import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type {
  NestedPolicy,
  OverrideOptions,
} from '../../../../shared/resources/clusters/lb-policy.ts';
import type { SubsetOptions } from '../../../../shared/resources/clusters/subset-policy.ts';
import { HeaderMap } from '../../../../workers/stream/header-map.ts';
import { updateBalancer } from '../../../../workers/upstream/balancing/load-balancer.ts';
import { makeBalancer } from '../../../../workers/upstream/balancing/lb-policies.ts';
import { ActiveRequests } from '../../../../workers/upstream/hosts/active-requests.ts';
import { UpstreamHost } from '../../../../workers/upstream/hosts/host.ts';
import { WorkerStatStore } from '../../../../workers/stats/worker-stat-store.ts';
import { balancerContext } from '../../../support/parts/balancers.ts';
import { host } from '../../../support/parts/data-plane.ts';

const LEAF: NestedPolicy = { kind: 'round_robin' };
const OVERRIDE: OverrideOptions = { sources: [{ kind: 'header', name: 'x-host' }] };

function by(key: string): SubsetOptions {
  return {
    fallback: 'NO_FALLBACK',
    defaultSubset: {},
    selectors: [{ keys: [key], isSingleHost: false, fallbackKeys: [] }],
    allowsRedundantKeys: true,
    weighsLocalities: false,
    scalesLocalityWeight: false,
    panicsToAny: false,
    listsAsAny: false,
    triesFallbackList: false,
  };
}

/** The ports taken by requests for `stage: a, version: 2` of hosts a1, a2, b2, which name a host. */
function taken(policy: NestedPolicy, named = ''): readonly number[] {
  const stats = new WorkerStatStore();
  const active = new ActiveRequests();
  const hosts = [
    { stage: 'a', version: '1' },
    { stage: 'a', version: '2' },
    { stage: 'b', version: '2' },
  ].map(
    (tags, at) =>
      new UpstreamHost(host(at + 1, { metadata: { 'envoy.lb': tags } }), 'c', stats, active),
  );
  const balancer = makeBalancer(policy, balancerContext());
  updateBalancer(balancer, hosts, 140);
  const choose = (): number => {
    const requestHeaders = new HeaderMap();
    if (named !== '') requestHeaders.add('x-host', named);
    const subset = { stage: 'a', version: '2' };
    const request = { requestHeaders, subset, computeHash: () => undefined };
    return balancer.choose({ ...request, maxHostDraws: 0, refusesHost: () => false }, 0)?.port ?? 0;
  };
  const ports = new Set([choose(), choose(), choose(), choose()]);
  return [...ports].sort((left, right) => left - right);
}

describe('a tree of policies', () => {
  it('has subsets of subsets', () => {
    const inner: NestedPolicy = { kind: 'subset', options: by('version'), child: LEAF };
    assert.deepEqual(taken({ kind: 'subset', options: by('stage'), child: LEAF }), [1, 2]);
    assert.deepEqual(taken({ kind: 'subset', options: by('stage'), child: inner }), [2]);
  });

  it('takes a host that a request names around subsets, and not within one', () => {
    const subsets: NestedPolicy = { kind: 'subset', options: by('stage'), child: LEAF };
    const around: NestedPolicy = { kind: 'override_host', options: OVERRIDE, child: subsets };
    assert.deepEqual(taken(around, '127.0.0.1:3'), [3]);
    assert.deepEqual(taken(around), [1, 2]);
    const leaf: NestedPolicy = { kind: 'override_host', options: OVERRIDE, child: LEAF };
    const within: NestedPolicy = { kind: 'subset', options: by('stage'), child: leaf };
    assert.deepEqual(taken(within, '127.0.0.1:1'), [1, 2]);
    assert.deepEqual(taken(within, '127.0.0.1:3'), [1, 2]);
  });
});
