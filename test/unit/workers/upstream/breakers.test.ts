import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BreakerPage, createBreakerPage } from '../../../../shared/limits/breaker-page.ts';
import type { CircuitBreakerThresholds } from '../../../../shared/resources/clusters/cluster.ts';
import type { RuntimeSnapshot } from '../../../../shared/resources/runtime.ts';
import { CIRCUIT_BREAKER_REMAINING, CLUSTER } from '../../../../shared/stats/templates/cluster.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { BreakerGauges } from '../../../../supervisor/upstreams/breakers/breaker-gauges.ts';
import { BreakerOverview } from '../../../../supervisor/upstreams/breakers/breaker-overview.ts';
import { BreakerSlots } from '../../../../supervisor/upstreams/breakers/breaker-slots.ts';
import { ClusterLimits } from '../../../../workers/upstream/cluster-limits.ts';
import type { UpstreamHost } from '../../../../workers/upstream/hosts/host.ts';
import { SharedLimits } from '../../../../workers/upstream/resource-limits.ts';
import { cluster, host } from '../../../support/parts/data-plane.ts';

const THRESHOLDS: CircuitBreakerThresholds = {
  maxConnections: 1,
  maxPendingRequests: 1,
  maxRequests: 2,
  maxRetries: 0,
};

interface Setup {
  readonly limits: readonly [SharedLimits, SharedLimits];
  readonly slots: BreakerSlots;
  readonly pair: { readonly DEFAULT: number; readonly HIGH: number };
}

/** Two workers with the same limits in one page. */
function twoWorkers(
  thresholds: CircuitBreakerThresholds = THRESHOLDS,
  runtime: { snapshot: RuntimeSnapshot } = { snapshot: new Map() },
): Setup {
  const fd = createBreakerPage(2);
  const slots = new BreakerSlots(fd, 2);
  const pair = slots.takePair();
  assert.ok(pair !== undefined);
  const worker = (index: number): SharedLimits => {
    const limits = new SharedLimits({ cluster: 'c', priority: 'DEFAULT', thresholds, runtime });
    limits.bind(BreakerPage.map(fd, 2), index, pair.DEFAULT);
    return limits;
  };
  return { limits: [worker(0), worker(1)], slots, pair };
}

describe('circuit breakers', () => {
  it('hold over all workers together', () => {
    const [one, other] = twoWorkers().limits;
    assert.equal(one.tryOpen('requests'), true);
    assert.equal(other.tryOpen('requests'), true);
    assert.equal(one.tryOpen('requests'), false);
    assert.equal(other.canOpen('requests'), false);
    other.close('requests');
    assert.equal(one.canOpen('requests'), true);
    assert.equal(one.canOpen('retries'), false, 'a limit of zero is reached from the beginning');
    assert.equal(one.canOpen('pools'), true, 'pools have no limit unless one is set');
  });

  it('count what is opened in spite of a limit', () => {
    const [one, other] = twoWorkers().limits;
    one.open('connections');
    other.open('connections');
    one.close('connections');
    assert.equal(one.tryOpen('connections'), false);
  });

  it('give back what a worker had open when it dies', () => {
    const { limits, slots } = twoWorkers();
    const [one, other] = limits;
    assert.deepEqual([one.tryOpen('requests'), one.tryOpen('requests')], [true, true]);
    assert.equal(other.canOpen('requests'), false);
    slots.clearWorker(0);
    assert.equal(other.tryOpen('requests'), true);
  });

  it('follow the runtime', () => {
    const runtime: { snapshot: RuntimeSnapshot } = { snapshot: new Map() };
    const [one] = twoWorkers(THRESHOLDS, runtime).limits;
    assert.equal(one.tryOpen('connections'), true);
    assert.equal(one.canOpen('connections'), false);
    const key = 'circuit_breakers.c.default.max_connections';
    runtime.snapshot = new Map([[key, { text: '2', number: 2 }]]);
    assert.equal(one.canOpen('connections'), true);
  });

  it('let retries be a share of the requests of all workers', () => {
    const retryBudget = { budgetPercent: 50, minRetryConcurrency: 1 };
    const [one, other] = twoWorkers({ ...THRESHOLDS, retryBudget }).limits;
    for (let count = 0; count < 4; count++) one.open('requests');
    assert.deepEqual([other.tryOpen('retries'), other.tryOpen('retries')], [true, true]);
    assert.equal(other.tryOpen('retries'), false);
  });

  it('keep what is open when the supervisor names their slot', () => {
    const page = BreakerPage.map(createBreakerPage(1), 1);
    const limits = new SharedLimits({
      cluster: 'c',
      priority: 'DEFAULT',
      thresholds: THRESHOLDS,
      runtime: { snapshot: new Map() },
    });
    assert.equal(limits.tryOpen('connections'), true);
    limits.bind(page, 0, 7);
    assert.equal(page.count(7, 'connections'), 1);
    assert.equal(limits.canOpen('connections'), false);
  });
});

describe('the slots of circuit breakers', () => {
  it('are given out again only once nothing is open in them', () => {
    const { slots, pair, limits } = twoWorkers();
    limits[1].open('requests');
    slots.giveBackPair(pair);
    const taken = slots.takePair();
    assert.equal(taken?.DEFAULT, pair.HIGH);
    assert.notEqual(taken?.HIGH, pair.DEFAULT);
    limits[1].close('requests');
    assert.equal(slots.takePair()?.DEFAULT, pair.DEFAULT);
  });
});

describe('the gauges of circuit breakers', () => {
  it('show what all workers have open', () => {
    const { limits, slots, pair } = twoWorkers();
    const store = new StatStore(() => true);
    const thresholds = { ...THRESHOLDS, trackRemaining: true };
    const gauges = new BreakerGauges({
      resource: cluster('c', { circuitBreakers: { DEFAULT: thresholds, HIGH: THRESHOLDS } }),
      writer: store,
      page: slots.page,
      slots: pair,
      runtime: () => new Map(),
    });
    const block = store.defineBlock(CLUSTER, 'cluster.c.');
    const left = store.defineBlock(
      CIRCUIT_BREAKER_REMAINING,
      'cluster.c.circuit_breakers.default.',
    );
    const read = (): readonly number[] => {
      gauges.refresh();
      return [
        store.valueOf(block + CLUSTER.index['circuit_breakers.default.rq_open']),
        store.valueOf(left + CIRCUIT_BREAKER_REMAINING.index.remaining_rq),
      ];
    };
    const retries = block + CLUSTER.index['circuit_breakers.default.rq_retry_open'];
    assert.equal(store.valueOf(retries), 0, 'nobody tried to retry');
    limits[0].open('requests');
    assert.deepEqual(read(), [0, 1]);
    limits[1].open('requests');
    assert.deepEqual(read(), [1, 0]);
    limits[0].close('requests');
    assert.deepEqual(read(), [0, 1]);
  });

  it('open for retries by the limit without a budget, of which nothing is left once it was asked', () => {
    const budget = { budgetPercent: 100, minRetryConcurrency: 10 };
    const own = { ...THRESHOLDS, maxRetries: 2, retryBudget: budget, trackRemaining: true };
    const { limits, slots, pair } = twoWorkers(own);
    const store = new StatStore(() => true);
    const gauges = new BreakerGauges({
      resource: cluster('c', { circuitBreakers: { DEFAULT: own, HIGH: THRESHOLDS } }),
      writer: store,
      page: slots.page,
      slots: pair,
      runtime: () => new Map(),
    });
    const block = store.defineBlock(CLUSTER, 'cluster.c.');
    const prefix = 'cluster.c.circuit_breakers.default.';
    const left = store.defineBlock(CIRCUIT_BREAKER_REMAINING, prefix);
    const read = (): readonly number[] => {
      gauges.refresh();
      return [
        store.valueOf(block + CLUSTER.index['circuit_breakers.default.rq_retry_open']),
        store.valueOf(left + CIRCUIT_BREAKER_REMAINING.index.remaining_retries),
      ];
    };
    assert.deepEqual(read(), [0, 2]);
    assert.equal(limits[0].tryOpen('retries'), true);
    assert.deepEqual(read(), [0, 0]);
    assert.equal(limits[1].tryOpen('retries'), true);
    assert.deepEqual(read(), [1, 0]);
    assert.equal(limits[1].tryOpen('retries'), true, 'the budget allows ten');
  });
});

describe('limits of single hosts', () => {
  it('count the connections of both priorities', () => {
    const { slots } = twoWorkers();
    const slot = slots.take() ?? -1;
    const thresholds = { ...THRESHOLDS, maxConnectionsPerHost: 1 };
    const limits = new ClusterLimits(
      cluster('c', {
        circuitBreakers: { DEFAULT: { ...thresholds, maxConnectionsPerHost: 2 }, HIGH: thresholds },
      }),
      { breakerPage: () => slots.page, duty: { workerIndex: 0 }, runtime: { snapshot: new Map() } },
    );
    const limited: Pick<UpstreamHost, 'resource' | 'connectionLimits'> = {
      resource: host(1, { breakerSlot: slot }),
      connectionLimits: undefined,
    };
    limits.limitConnections(limited);
    assert.equal(limited.connectionLimits?.DEFAULT.tryOpen('connections'), true);
    assert.equal(limited.connectionLimits?.HIGH.tryOpen('connections'), false);
    assert.equal(limited.connectionLimits?.DEFAULT.tryOpen('connections'), true);
    assert.equal(limited.connectionLimits?.DEFAULT.tryOpen('connections'), false);
  });
});

describe('the breaker gauges of many clusters', () => {
  const ROOM = { ...THRESHOLDS, maxRetries: 3 };

  /** Clusters that count how often their gauges are brought up to date. */
  function many(thresholds: readonly CircuitBreakerThresholds[]): {
    readonly overview: BreakerOverview;
    readonly gauges: readonly BreakerGauges[];
    readonly use: (position: number) => void;
    readonly setRuntime: (snapshot: RuntimeSnapshot) => void;
    readonly looks: () => Promise<readonly number[]>;
  } {
    const fd = createBreakerPage(1);
    const slots = new BreakerSlots(fd, 1);
    let runtime: RuntimeSnapshot = new Map();
    const counts = thresholds.map(() => 0);
    const overview = new BreakerOverview(slots, () => runtime);
    const gauges = thresholds.map((each, position) => {
      const made = new BreakerGauges({
        resource: cluster(`c${position}`, { circuitBreakers: { DEFAULT: each, HIGH: ROOM } }),
        writer: new StatStore(() => true),
        page: slots.page,
        slots: slots.takePair(),
        runtime: () => {
          counts[position] = (counts[position] ?? 0) + 1;
          return runtime;
        },
      });
      overview.add(made);
      return made;
    });
    return {
      overview,
      gauges,
      use: (position) => slots.page.markUsed(0, gauges[position]?.slots?.DEFAULT ?? 0, 'requests'),
      setRuntime: (snapshot) => (runtime = snapshot),
      looks: async () => {
        counts.fill(0);
        await overview.refresh();
        return counts;
      },
    };
  }

  it('are read for clusters that were used and for those that show something unused', async () => {
    const { looks, use } = many([ROOM, THRESHOLDS, ROOM]);
    assert.deepEqual(await looks(), [1, 1, 1], 'nothing is known at first');
    assert.deepEqual(await looks(), [0, 1, 0], 'a breaker without room is open from the start');
    use(2);
    assert.deepEqual(await looks(), [0, 1, 1]);
  });

  it('are read for all when a runtime value changed, and not for a cluster that is gone', async () => {
    const { looks, use, setRuntime, overview, gauges } = many([ROOM, ROOM]);
    await looks();
    use(0);
    setRuntime(new Map());
    assert.deepEqual(await looks(), [1, 1]);
    const [first] = gauges;
    assert.ok(first !== undefined);
    overview.remove(first);
    assert.deepEqual(await looks(), [0, 0]);
  });
});
