/**
 * Chooses a priority by its share of the load, then a host among the ones of it that are usable, by
 * whatever picker the policy has. With one priority in good health a choice is one pick.
 */
import type { Steps } from '../../loop/sliced-work.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { BalanceContext, HostPicker, LoadBalancer, MakePicker } from './load-balancer.ts';
import type { LoadAwareLocalities } from './load-aware-localities.ts';
import { makeLocalityPicker } from './locality-picker.ts';
import {
  choosePriority,
  computeLoads,
  computeLoadsWithout,
  groupByPriority,
  type PriorityHosts,
  type PriorityLoads,
  type Which,
} from './priority-loads.ts';

export interface PriorityBalancerParts {
  /** In percent. */
  panicThreshold(): number;
  readonly makePicker: MakePicker;
  /** Localities take load by their weights. */
  readonly weighsLocalities: boolean;
  /** What a locality's weight is multiplied by, by `localityKey`. */
  readonly localityScale?: ((locality: string) => number) | undefined;
  /** Too few usable hosts: none is chosen. */
  readonly failsInPanic?: boolean | undefined;
  /** Chooses among the healthy hosts of the first priority by where they are. */
  readonly makeZonePicker?: MakePicker | undefined;
  /** Chooses localities by how busy they are, before all else. */
  readonly byLoad?: LoadAwareLocalities | undefined;
  /** Numbers from 0, below 1. */
  readonly random: () => number;
}

/** The pickers of one priority, each made when it is first needed. */
interface PriorityPickers {
  readonly hosts: PriorityHosts;
  all: HostPicker | undefined;
  healthy: HostPicker | undefined;
  degraded: HostPicker | undefined;
}

const NO_LOADS: PriorityLoads = { healthy: [], degraded: [], panics: [] };

export class PriorityBalancer implements LoadBalancer {
  readonly #parts: PriorityBalancerParts;
  #loads = NO_LOADS;
  #priorities: readonly PriorityPickers[] = [];
  /** Takes every request while the first priority can. */
  #only: HostPicker | undefined = undefined;
  #overprovisioningFactor = 140;
  isPanicking = false;

  constructor(parts: PriorityBalancerParts) {
    this.#parts = parts;
  }

  choose(context?: BalanceContext): UpstreamHost | undefined {
    const decided = context?.priority;
    const excluded = context?.excludedPriorities;
    if (this.#only !== undefined && decided === undefined && excluded === undefined) {
      return this.#only.pick();
    }
    const without = excluded && this.#loadsWithout(excluded);
    if (excluded !== undefined && without === undefined) context?.noPriorityLeft?.();
    const loads = without ?? this.#loads;
    return this.#chooseByLoad(loads, decided);
  }

  /** The pickers that the loads ask for are made here, the others when they are needed. */
  *prepare(hosts: readonly UpstreamHost[], overprovisioningFactor: number): Steps<() => void> {
    const groups = yield* groupByPriority(hosts);
    const panicThreshold = this.#parts.panicThreshold();
    const loads = computeLoads(groups, { panicThreshold, overprovisioningFactor });
    const priorities: PriorityPickers[] = [];
    for (const [priority, group] of groups.entries()) {
      const pickers: PriorityPickers = {
        hosts: group,
        all: undefined,
        healthy: undefined,
        degraded: undefined,
      };
      for (const which of this.#picked(loads, priority)) {
        pickers[which] = this.#makePicker(group, which, { priority, overprovisioningFactor });
        yield;
      }
      priorities.push(pickers);
    }
    return () => {
      this.#overprovisioningFactor = overprovisioningFactor;
      this.#loads = loads;
      this.#priorities = priorities;
      this.#parts.byLoad?.setHosts(groups);
      this.isPanicking = false;
      const takesAll = loads.healthy[0] === 100 && loads.panics[0] !== true;
      this.#only = takesAll ? this.#pickerOf(0, 'healthy') : undefined;
    };
  }

  /** A zone's plan is made, and counted, whether it is followed or not. */
  #picked({ healthy, degraded, panics }: PriorityLoads, priority: number): ReadonlySet<Which> {
    const takes = (percentages: readonly number[]): boolean => (percentages[priority] ?? 0) > 0;
    const picked = new Set<Which>();
    if (priority === 0 && this.#parts.makeZonePicker !== undefined) picked.add('healthy');
    if (panics[priority] === true)
      return takes(healthy) || takes(degraded) ? picked.add('all') : picked;
    if (takes(healthy)) picked.add('healthy');
    if (takes(degraded)) picked.add('degraded');
    return picked;
  }

  #loadsWithout(excluded: ReadonlySet<number>): PriorityLoads | undefined {
    const panicThreshold = this.#parts.panicThreshold();
    const overprovisioningFactor = this.#overprovisioningFactor;
    const groups = this.#priorities.map(({ hosts }) => hosts);
    const options = { panicThreshold, overprovisioningFactor };
    return computeLoadsWithout(groups, excluded, options);
  }

  #chooseByLoad(
    loads: PriorityLoads,
    decided: BalanceContext['priority'],
  ): UpstreamHost | undefined {
    const point = Math.floor(this.#parts.random() * 100);
    const { priority, isDegraded } = decided ?? choosePriority(loads, point);
    this.isPanicking = loads.panics[priority] === true;
    if (this.isPanicking) {
      return this.#parts.failsInPanic === true
        ? undefined
        : this.#pickerOf(priority, 'all')?.pick();
    }
    return this.#pickerOf(priority, isDegraded ? 'degraded' : 'healthy')?.pick();
  }

  #pickerOf(priority: number, which: Which): HostPicker | undefined {
    const pickers = this.#priorities[priority];
    if (pickers === undefined) return undefined;
    const overprovisioningFactor = this.#overprovisioningFactor;
    const where = { priority, overprovisioningFactor };
    return (pickers[which] ??= this.#makePicker(pickers.hosts, which, where));
  }

  /** In panic localities do not count. */
  #makePicker(
    hosts: PriorityHosts,
    which: Which,
    where: { readonly priority: number; readonly overprovisioningFactor: number },
  ): HostPicker {
    const { priority, overprovisioningFactor } = where;
    const { makePicker, makeZonePicker, weighsLocalities, localityScale: scale } = this.#parts;
    const { byLoad } = this.#parts;
    if (byLoad !== undefined) return byLoad.makePicker(hosts, which, priority);
    const hasPlan = makeZonePicker !== undefined && priority === 0 && which === 'healthy';
    const source = `${priority} ${which}`;
    const picker = (hasPlan ? makeZonePicker : makePicker)(hosts[which], hosts.all, source);
    if (!weighsLocalities || which === 'all') return picker;
    return makeLocalityPicker(hosts[which], hosts.all, {
      makePicker,
      source,
      otherwise: picker,
      overprovisioningFactor,
      scale,
    });
  }
}
