/**
 * Chooses hosts by a hash of the request, so that the same request goes to the same host; a request
 * without a hash gets a random one. The tables are made when hosts or their health change, those of
 * a cluster that was not asked yet with its first request.
 */
import type { Hash64 } from '../../hash/xxhash64.ts';
import type { RequestHash } from '../../stream/route.ts';
import { finish, type Steps } from '../../loop/sliced-work.ts';
import type { HashTable, TablePlan } from './table-plan.ts';
import type { TableStats } from './table-stats.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import { type WeighedHost, weighHosts } from '../hosts/host-weights.ts';
import type { BalanceContext, LoadBalancer } from '../balancing/load-balancer.ts';
import {
  choosePriority,
  computeLoads,
  computeLoadsWithout,
  groupByPriority,
  type PriorityHosts,
  type PriorityLoads,
} from '../balancing/priority-loads.ts';

export interface HashBalancerParts {
  /** In percent. */
  panicThreshold(): number;
  readonly weighsLocalities: boolean;
  readonly planTable: (hosts: readonly WeighedHost[], priority: number) => Steps<TablePlan>;
  /** What is hashed, whatever routes say. */
  readonly hashOf: RequestHash | undefined;
  /** Numbers from 0, below 1. */
  readonly random: () => number;
  /** Told of each new table. */
  readonly onTable: (figures: TableStats) => void;
}

interface Table {
  readonly plan: TablePlan;
  /** Undefined until somebody asks: many clusters are never asked. */
  built: HashTable | undefined;
}

const NO_LOADS: PriorityLoads = { healthy: [], degraded: [], panics: [] };

export class HashBalancer implements LoadBalancer {
  readonly #parts: HashBalancerParts;
  #loads = NO_LOADS;
  #tables: readonly Table[] = [];
  #wasAsked = false;
  #priorities: readonly PriorityHosts[] = [];
  #overprovisioningFactor = 140;
  isPanicking = false;

  constructor(parts: HashBalancerParts) {
    this.#parts = parts;
  }

  choose(context: BalanceContext, draw: number): UpstreamHost | undefined {
    const hash = context.computeHash(this.#parts.hashOf) ?? this.#randomHash();
    const point = (hash.high * (0x1_0000_0000 % 100) + hash.low) % 100;
    const loads = this.#loadsFor(context);
    const { priority } = context.priority ?? choosePriority(loads, point);
    this.isPanicking = this.#loads.panics[priority] === true;
    return this.#tableOf(priority)?.choose(hash, draw);
  }

  #tableOf(priority: number): HashTable | undefined {
    this.#wasAsked = true;
    const table = this.#tables[priority];
    if (table === undefined) return undefined;
    return (table.built ??= finish(table.plan.build()));
  }

  *prepare(hosts: readonly UpstreamHost[], overprovisioningFactor: number): Steps<() => void> {
    const priorities = yield* groupByPriority(hosts);
    const { planTable, onTable, weighsLocalities } = this.#parts;
    const panicThreshold = this.#parts.panicThreshold();
    const loads = computeLoads(priorities, { panicThreshold, overprovisioningFactor });
    const tables: Table[] = [];
    for (const [priority, { all, healthy }] of priorities.entries()) {
      const panics = loads.panics[priority] === true;
      const weighed = weighHosts(panics ? all : healthy, weighsLocalities && !panics);
      yield;
      const plan = yield* planTable(weighed, priority);
      const mayWait = plan.isQuick && !this.#wasAsked;
      tables.push({ plan, built: mayWait ? undefined : yield* plan.build() });
    }
    return () => {
      this.#priorities = priorities;
      this.#overprovisioningFactor = overprovisioningFactor;
      this.#loads = loads;
      this.#tables = tables;
      this.isPanicking = false;
      for (const { plan } of tables) onTable(plan.figures);
    };
  }

  #loadsFor(context: BalanceContext): PriorityLoads {
    const { excludedPriorities: excluded } = context;
    if (excluded === undefined) return this.#loads;
    const panicThreshold = this.#parts.panicThreshold();
    const overprovisioningFactor = this.#overprovisioningFactor;
    const options = { panicThreshold, overprovisioningFactor };
    const without = computeLoadsWithout(this.#priorities, excluded, options);
    if (without === undefined) context.noPriorityLeft?.();
    return without ?? this.#loads;
  }

  #randomHash(): Hash64 {
    const { random } = this.#parts;
    const half = (): number => Math.floor(random() * 0x1_0000_0000);
    return { high: half(), low: half() };
  }
}
