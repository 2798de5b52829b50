import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HostResource } from '../../../../shared/resources/clusters/cluster.ts';
import { HeaderMap } from '../../../../workers/stream/header-map.ts';
import { WorkerStatStore } from '../../../../workers/stats/worker-stat-store.ts';
import { makeBalancer } from '../../../../workers/upstream/balancing/lb-policies.ts';
import {
  type LoadBalancer,
  updateBalancer,
} from '../../../../workers/upstream/balancing/load-balancer.ts';
import { ActiveRequests } from '../../../../workers/upstream/hosts/active-requests.ts';
import { UpstreamHost } from '../../../../workers/upstream/hosts/host.ts';
import { balancerContext } from '../../../support/parts/balancers.ts';
import { host } from '../../../support/parts/data-plane.ts';

describe('hosts that a request names', () => {
  const key = { namespace: 'chosen', path: ['by', 'filter'] };
  const override = {
    sources: [
      { kind: 'header', name: 'x-host' },
      { kind: 'metadata', ...key },
    ],
    tells: { namespace: 'told', path: ['host', 'id'] },
  } as const;

  function hosts(facts: readonly Partial<HostResource>[]): readonly UpstreamHost[] {
    const stats = new WorkerStatStore();
    const active = new ActiveRequests();
    return facts.map((each, at) => new UpstreamHost(host(at + 1, each), 'c', stats, active));
  }

  function balancerOf(of: readonly UpstreamHost[]): LoadBalancer {
    const child = { kind: 'round_robin' } as const;
    const made = makeBalancer(
      { kind: 'override_host', options: override, child },
      balancerContext(),
    );
    updateBalancer(made, of, 140);
    return made;
  }

  function askedFor(named: string, inMetadata?: unknown) {
    const requestHeaders = new HeaderMap();
    requestHeaders.add('x-host', named);
    const told: unknown[] = [];
    return {
      requestHeaders,
      dynamicMetadata: new Map([['chosen', { by: { filter: inMetadata } }]]),
      addMetadata: (namespace: string, value: unknown) =>
        void told.push([namespace, structuredClone(value)]),
      told,
      computeHash: () => undefined,
      maxHostDraws: 0,
      refusesHost: () => false,
    };
  }

  it('are taken one after the other with each choice, whatever their health, then others', () => {
    const of = hosts([{}, {}, { health: 'unhealthy' }, { health: 'unhealthy' }]);
    const from = balancerOf(of);
    const asked = askedFor('127.0.0.1:9,, 127.0.0.1:3', ' 127.0.0.1:4 ');
    const chosen = [0, 1, 2, 3].map(() => from.choose(asked, 0)?.port);
    assert.deepEqual(chosen.slice(0, 2), [3, 4]);
    assert.deepEqual(new Set(chosen.slice(2)), new Set([1, 2]));
    assert.deepEqual(asked.told[0], ['told', { host: { id: '127.0.0.1:3' } }]);
    assert.equal(asked.told.length, 4);
  });

  it('are others for each request, and none where nothing names one', () => {
    const from = balancerOf(hosts([{}, {}]));
    for (let request = 0; request < 3; request++) {
      assert.equal(from.choose(askedFor('127.0.0.1:2', 7), 0)?.port, 2);
    }
    const others = [0, 1, 2, 3].map(() => from.choose(askedFor(''), 0)?.port);
    assert.deepEqual(others.filter((port) => port === 1).length, 2);
    assert.deepEqual(new Set(others), new Set([1, 2]));
  });
});
