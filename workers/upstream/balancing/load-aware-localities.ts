/**
 * Chooses a locality by what its hosts report of their load, smoothed over time, then a host within
 * it. Shares are computed again when a choice is made and a period is over: what passed meanwhile
 * is made up for. Each worker knows the reports that it saw.
 */
import { CLUSTER } from '../../../shared/stats/templates/cluster.ts';
import type { LOAD_AWARE_LOCALITY } from '../../../shared/stats/templates/cluster-features.ts';
import type { LocalityLoadOptions } from '../../../shared/resources/clusters/lb-policy.ts';
import { type LocalityShares, shareByHeadroom } from '../load-reports/headroom.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { HostPicker, MakePicker } from './load-balancer.ts';
import { type LoadReport, utilizationOf } from '../load-reports/load-report.ts';
import { groupByLocality, localityKey } from '../hosts/localities.ts';
import type { PriorityHosts, Which } from './priority-loads.ts';
import type { ZonePickerParts } from './zone-picker.ts';

const { index } = CLUSTER;
type Condition = Exclude<keyof typeof LOAD_AWARE_LOCALITY.index, 'recompute_total'>;

/** How busy one host said that it is. */
export class ReportedUse {
  readonly #metricNames: readonly string[];
  #utilization = 0;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(metricNames: readonly string[]) {
    this.#metricNames = metricNames;
  }

  note(report: LoadReport, nowMs: number): void {
    const utilization = utilizationOf(report, this.#metricNames);
    if (utilization <= 0) return;
    this.#utilization = utilization;
    this.#lastMs = nowMs;
  }

  /** Undefined: it never said, or too long ago; 0 is never too long. */
  at(nowMs: number, expirationMs: number): number | undefined {
    if (this.#lastMs === Number.NEGATIVE_INFINITY) return undefined;
    return expirationMs > 0 && nowMs - this.#lastMs > expirationMs ? undefined : this.#utilization;
  }
}

export interface LoadAwareParts extends Pick<
  ZonePickerParts,
  'ownLocality' | 'count' | 'countStructure'
> {
  readonly options: LocalityLoadOptions;
  readonly makePicker: MakePicker;
  readonly nowMs: () => number;
  /** Numbers from 0, below 1. */
  readonly random: () => number;
  /** Counts one of the policy's own statistics. */
  readonly countLoadAware: (name: keyof typeof LOAD_AWARE_LOCALITY.index, change: number) => void;
}

interface Locality {
  readonly key: string;
  readonly isOwn: boolean;
  readonly hosts: readonly UpstreamHost[];
}

/** The localities of the healthy, the degraded or all hosts of one priority. */
interface PlaceSet {
  readonly key: string;
  readonly which: Which;
  readonly localities: readonly Locality[];
  shares: LocalityShares;
}

export class LoadAwareLocalities {
  readonly #parts: LoadAwareParts;
  /** By set and locality: how busy it is, over time. */
  readonly #smoothed = new Map<string, number>();
  #sets = new Map<string, PlaceSet>();
  /** The next period begins; undefined before the first hosts. */
  #dueMs: number | undefined = undefined;

  constructor(parts: LoadAwareParts) {
    this.#parts = parts;
  }

  /** The hosts are others, or their health is. */
  setHosts(priorities: readonly PriorityHosts[]): void {
    const { options, nowMs, countStructure } = this.#parts;
    const sets = priorities.flatMap((groups, priority) =>
      (['healthy', 'degraded', 'all'] as const).map((which) =>
        this.#makeSet(groups, priority, which),
      ),
    );
    this.#sets = new Map(sets.map((set) => [set.key, set]));
    const isFirst = this.#dueMs === undefined;
    countStructure(index.lb_recalculate_zone_structures, isFirst ? 1 + priorities.length : 1);
    this.#dueMs ??= nowMs() + options.updateMs;
    this.#compute(isFirst ? 1 : 0);
  }

  /** Chooses among these hosts of a priority. */
  makePicker(hosts: PriorityHosts, which: Which, priority: number): HostPicker {
    const pickers = new Map(
      [...groupByLocality(hosts[which])].map(([key, some]) => [
        key,
        this.#parts.makePicker(some, hosts.all, `${priority} ${which} ${key}`),
      ]),
    );
    const key = setKey(priority, which);
    return {
      pick: () => {
        this.#follow();
        const chosen = this.#choose(key);
        return chosen && pickers.get(chosen.key)?.pick();
      },
    };
  }

  #choose(key: string): Locality | undefined {
    const set = this.#sets.get(key);
    if (set === undefined) return undefined;
    const { localities, shares, which } = set;
    let point = this.#parts.random() * shares.weights.reduce((total, each) => total + each, 0);
    const at = shares.weights.findIndex((weight) => (point -= weight) < 0);
    const chosen = localities[at];
    // In panic nobody counts where requests go.
    if (chosen !== undefined && which !== 'all') this.#count(set, chosen);
    return chosen;
  }

  #count({ localities, shares }: PlaceSet, { isOwn }: Locality): void {
    const { count } = this.#parts;
    if (!localities.some((each) => each.isOwn)) return;
    if (!isOwn) count(index.lb_zone_routing_cross_zone);
    else if (shares.prefersOwn && !shares.probes) count(index.lb_zone_routing_all_directly);
    else count(index.lb_zone_routing_sampled);
  }

  #makeSet(groups: PriorityHosts, priority: number, which: Which): PlaceSet {
    const ownKey = localityKey(this.#parts.ownLocality);
    const usable = groupByLocality(groups[which]);
    const localities = [...groupByLocality(groups.all).keys()].map((key) => ({
      key,
      isOwn: key === ownKey,
      hosts: usable.get(key) ?? [],
    }));
    const shares = shareByHeadroom([], this.#parts.options);
    return { key: setKey(priority, which), which, localities, shares };
  }

  #follow(): void {
    const { options, nowMs } = this.#parts;
    const lateMs = nowMs() - (this.#dueMs ?? 0);
    if (lateMs < 0) return;
    const periods = 1 + Math.floor(lateMs / options.updateMs);
    this.#dueMs = (this.#dueMs ?? 0) + periods * options.updateMs;
    this.#compute(periods);
  }

  /** As after so many periods without another report; 0: only the hosts are others. */
  #compute(periods: number): void {
    const { countLoadAware, nowMs, options } = this.#parts;
    const now = nowMs();
    const seen = new Set<Condition>();
    let stale = 0;
    for (const set of this.#sets.values()) {
      const loads = set.localities.map((locality) => this.#loadOf(set, locality, { now, periods }));
      set.shares = shareByHeadroom(loads, options);
      if (set.which === 'all') stale += loads.filter(({ isStale }) => isStale).length;
      if (set.shares.isOverloaded) seen.add('all_overloaded_total');
      if (set.shares.prefersOwn) seen.add('local_preferred_total');
      if (set.shares.probes) seen.add('probe_active_total');
      if (set.shares.spills) seen.add('spill_active_total');
    }
    if (periods === 0) return;
    countLoadAware('recompute_total', periods);
    for (const name of seen) countLoadAware(name, periods);
    if (stale > 0) countLoadAware('stale_locality_total', stale * periods);
  }

  #loadOf(
    set: PlaceSet,
    { key, isOwn, hosts }: Locality,
    { now, periods }: { readonly now: number; readonly periods: number },
  ): Parameters<typeof shareByHeadroom>[0][number] {
    const { options } = this.#parts;
    const stateKey = `${set.key} ${key}`;
    const before = this.#smoothed.get(stateKey);
    const reported = hosts
      .map(({ reportedUse }) => reportedUse?.at(now, options.expirationMs))
      .filter((utilization) => utilization !== undefined);
    const load = { isOwn, hosts: hosts.length };
    if (reported.length === 0) {
      return { ...load, utilization: before ?? 0, isStale: before !== undefined };
    }
    const average = reported.reduce((total, each) => total + each, 0) / reported.length;
    const kept = Math.exp((-periods * options.updateMs) / options.smoothingMs);
    const utilization = before === undefined ? average : average * (1 - kept) + before * kept;
    this.#smoothed.set(stateKey, utilization);
    return { ...load, utilization, isStale: false };
  }
}

function setKey(priority: number, which: Which): string {
  return `${priority} ${which}`;
}
