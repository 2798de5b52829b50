import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { JsonObject } from '../../../../shared/api/well-known.ts';
import {
  joinRoutes,
  ROUTES_PER_PART,
  routesIn,
  splitRoutes,
} from '../../../../shared/resources/routes/route-parts.ts';
import type { ResourceUpdate } from '../../../../shared/resources/resource-update.ts';
import { atOnce, type Steps } from '../../../../supervisor/loop/loop-turns.ts';
import { routeConfigurationInSteps } from '../../../../supervisor/resources/routes/route-configuration.ts';
import { Scope } from '../../../../supervisor/resources/scope.ts';
import { ResourceStore } from '../../../../supervisor/store/resource-store.ts';
import {
  ClusterDiscovery,
  type ClusterDiscoveryOptions,
} from '../../../../supervisor/xds/kinds/cluster-discovery.ts';
import { ClusterSwap } from '../../../../supervisor/xds/kinds/cluster-swap.ts';
import { isSameInSteps } from '../../../../supervisor/xds/kinds/same-message.ts';
import { WorkerRuntime } from '../../../../workers/loop/runtime.ts';
import { routeTableSteps } from '../../../../workers/routing/route-table.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import {
  prefix,
  route,
  routeConfiguration,
  toCluster,
  virtualHost,
} from '../../../support/parts/routes.ts';

const MANY = 20_000;
/** More routes are never looked at in one step. */
const MOST_PER_STEP = 256;
const ROUTE = route(prefix('/'), toCluster());

/** The largest number that `count` grew by within one step. */
function mostPerStep(steps: Steps<unknown>, count: () => number): number {
  let most = 0;
  for (let done = false; done === false;) {
    const before = count();
    done = steps.next().done === true;
    most = Math.max(most, count() - before);
  }
  return most;
}

/** Objects that count who reads one of their fields. */
function counted(
  total: number,
  field: string,
  make: (at: number) => object,
): [object[], () => number] {
  let looks = 0;
  const objects = Array.from({ length: total }, (_, at) => {
    const object = make(at);
    const value: unknown = Reflect.get(object, field);
    const get = (): unknown => {
      looks += 1;
      return value;
    };
    return Object.defineProperty(object, field, { get, enumerable: true });
  });
  return [objects, () => looks];
}

describe('a route configuration of 20,000 routes', () => {
  it('is resolved a few routes at a time', () => {
    const [routes, looks] = counted(MANY, 'match', (at) => ({
      match: { prefix: `/${at}` },
      direct_response: { status: 200 },
    }));
    const message = { name: 'many', virtual_hosts: [{ name: 'v', domains: ['*'], routes }] };
    const source = { validatesClusters: false, isKnownCluster: () => true };
    const problems = { report: () => assert.fail('there is nothing wrong') };
    const scope = new Scope({ problems } as never, undefined);
    const perRoute = mostPerStep(routeConfigurationInSteps(message as never, source, scope), looks);
    assert.ok(looks() >= MANY);
    assert.ok(perRoute <= 4 * MOST_PER_STEP, `${perRoute} looks in one step`);
  });

  it('is compiled by workers a few routes at a time', () => {
    const [routes, looks] = counted(MANY, 'name', () => ({ ...ROUTE, name: 'r' }));
    const table = routeConfiguration([virtualHost(routes as never)]);
    const steps = routeTableSteps(table, new WorkerRuntime());
    let count = 1;
    for (; steps.next().done !== true; count++) assert.ok(looks() <= MANY * 4);
    assert.ok(count > MANY / MOST_PER_STEP, `${count} steps`);
  });
});

describe('parts of route configurations', () => {
  const hosts = fc.array(fc.nat(3 * ROUTES_PER_PART), { maxLength: 8 });

  it('are small, and the configuration when they are joined', () => {
    fc.assert(
      fc.property(fc.array(hosts, { maxLength: 3 }), (configurations) => {
        const updates = configurations.map((sizes, key): ResourceUpdate => {
          const routesOf = (size: number, host: number): unknown =>
            Array.from({ length: size }, (_, at) => ({ name: `${host} ${at}` }));
          const virtualHosts = sizes.map((size, host) => ({
            name: `${host}`,
            routes: routesOf(size, host),
          }));
          const routes = { name: 'rc', virtualHosts } as never;
          return { op: 'put_route_configuration', key: `${key}`, routes };
        });
        const parts = splitRoutes(updates);
        for (const part of parts) {
          if (part.op !== 'put_route_configuration') continue;
          assert.ok(routesIn(part.routes) <= 2 * ROUTES_PER_PART);
        }
        assert.deepEqual(joinRoutes(parts), updates);
      }),
      { numRuns: 60 },
    );
  });
});

describe('messages that are compared in steps', () => {
  it('are the same where they are the same at once', () => {
    const text = fc.constantFrom('a', '__proto__', 'length', '0');
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom(null, true, 0, 1, 'a', ''),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(text, tie('value'), { maxKeys: 3, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(value, value, fc.boolean(), (left, other, isCopy) => {
        const right: unknown = isCopy ? structuredClone(left) : other;
        const [a, b] = [{ field: left }, { field: right }] as unknown as [JsonObject, JsonObject];
        assert.equal(atOnce(isSameInSteps(a, b)), isDeepStrictEqual(a, b));
      }),
      { numRuns: 500 },
    );
  });

  it('are looked at a few at a time', () => {
    const messageOf = (): JsonObject =>
      ({ hosts: [{ routes: Array.from({ length: MANY }, (_, at) => ({ at })) }] }) as never;
    const steps = isSameInSteps(messageOf(), messageOf());
    let count = 1;
    for (; steps.next().done !== true;) count++;
    assert.ok(count > MANY / MOST_PER_STEP, `${count} steps`);
  });
});

describe('an answer of many clusters', () => {
  it('brings and takes away one cluster in each step, in the order of the answer', async () => {
    const store = new ResourceStore();
    const clock = new ManualClock();
    const orders: string[] = [];
    store.subscribe(({ name, change }) => orders.push(`${change} ${name}`));
    let most = 0;
    const ignored = (): void => undefined;
    const options = {
      store,
      clock,
      swap: new ClusterSwap(store, clock),
      turns: {
        run: (steps: Steps<unknown>) => {
          let result: unknown;
          const watched = (function* (): Steps<void> {
            result = yield* steps;
          })();
          most = Math.max(
            most,
            mostPerStep(watched, () => orders.length),
          );
          return Promise.resolve(result);
        },
      },
      resolver: { cluster: () => ({ resolved: {}, secrets: [] }) },
      stats: { reloaded: ignored },
      serverStats: { clusterAdded: ignored, clusterModified: ignored, clusterRemoved: ignored },
      settled: ignored,
      log: ignored,
    };
    const discovery = new ClusterDiscovery(options as unknown as ClusterDiscoveryOptions);
    const send = async (names: readonly string[]): Promise<void> => {
      const resources = names.map((name) => ({ name, versionInfo: '1', message: { name } }));
      const update = { versionInfo: '1', resources, removed: 'rest' } as const;
      assert.equal(await discovery.update(update), undefined);
      for (const name of names) store.promote('cluster', name);
    };
    const names = (tag: string): readonly string[] =>
      Array.from({ length: 500 }, (_, at) => `${tag}${at}`);
    await send(names('a'));
    assert.deepEqual(
      orders.slice(0, 500),
      names('a').map((name) => `warming ${name}`),
    );
    orders.length = 0;
    await send(names('b'));
    assert.deepEqual(orders.slice(0, 1000), [
      ...names('b').map((name) => `warming ${name}`),
      ...names('a').map((name) => `removed ${name}`),
    ]);
    assert.equal(most, 1);
    assert.equal(store.count('cluster'), 500);
  });
});
