/**
 * How requests are spread over a cluster's priorities: by how many of each one's hosts are usable,
 * a lower one taking what a higher one cannot. Recomputed when hosts or their health change; a
 * choice is a walk over two short lists. Knows hosts, chooses none.
 */
import { isCounted } from '../../../shared/resources/clusters/host-health.ts';
import { ITEMS_PER_STEP, type Steps } from '../../loop/sliced-work.ts';
import type { UpstreamHost } from '../hosts/host.ts';

export interface PriorityHosts {
  readonly all: readonly UpstreamHost[];
  readonly healthy: readonly UpstreamHost[];
  readonly degraded: readonly UpstreamHost[];
  /** How many the usable ones are compared with: all but those that are excluded. */
  readonly counted: number;
}

/** A part of a priority's hosts to choose from. */
export type Which = 'all' | 'healthy' | 'degraded';

/** Percentages by priority; all healthy and degraded ones together are 100. */
export interface PriorityLoads {
  readonly healthy: readonly number[];
  readonly degraded: readonly number[];
  /** Too few hosts of the priority are usable: it chooses among all of them. */
  readonly panics: readonly boolean[];
}

export interface PriorityOptions {
  /** In percent. */
  readonly panicThreshold: number;
  /** In percent, 140 by default: a priority is full while so much more than its share is usable. */
  readonly overprovisioningFactor: number;
}

/** By priority from 0; a priority without hosts has an empty entry. */
export function* groupByPriority(hosts: readonly UpstreamHost[]): Steps<readonly PriorityHosts[]> {
  // Most sets are all well, and of one priority.
  if (hosts.every(({ resource }) => resource.priority === 0 && resource.health === 'healthy')) {
    return [{ all: hosts, healthy: hosts, degraded: [], counted: hosts.length }];
  }
  yield;
  const groups: HostGroup[] = [newGroup()];
  for (const [at, host] of hosts.entries()) {
    if (at % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
    const { priority, health } = host.resource;
    while (groups.length <= priority) groups.push(newGroup());
    const group = groups[priority] ?? newGroup();
    group.all.push(host);
    if (isCounted(host.resource)) group.counted += 1;
    if (health !== 'unhealthy') group[health].push(host);
  }
  return groups;
}

interface HostGroup extends Record<'all' | 'healthy' | 'degraded', UpstreamHost[]> {
  counted: number;
}

function newGroup(): HostGroup {
  return { all: [], healthy: [], degraded: [], counted: 0 };
}

export function computeLoads(
  priorities: readonly PriorityHosts[],
  options: PriorityOptions,
): PriorityLoads {
  const share = (count: number, { counted }: PriorityHosts): number =>
    counted === 0
      ? 0
      : Math.min(100, Math.floor((options.overprovisioningFactor * count) / counted));
  const healthy = priorities.map((each) => share(each.healthy.length, each));
  const degraded = priorities.map((each) => share(each.degraded.length, each));
  const available = Math.min(100, sum(healthy) + sum(degraded));
  const { panicThreshold } = options;
  const panics = priorities.map((each) => available < 100 && isShort(each, panicThreshold));
  if (panics.every(Boolean)) return { ...panicLoads(priorities), panics };
  if (available === 0)
    return { healthy: onlyFirst(priorities), degraded: none(priorities), panics };
  return { ...spread(healthy, degraded, available), panics };
}

/** As if these priorities had no hosts; undefined when no other can take a request. */
export function computeLoadsWithout(
  priorities: readonly PriorityHosts[],
  excluded: ReadonlySet<number>,
  options: PriorityOptions,
): PriorityLoads | undefined {
  const left = priorities.map((hosts, priority) => (excluded.has(priority) ? NO_HOSTS : hosts));
  const isUsable = left.some(({ healthy, degraded }) => healthy.length + degraded.length > 0);
  return isUsable ? computeLoads(left, options) : undefined;
}

const NO_HOSTS: PriorityHosts = newGroup();

/** `point` is a whole number from 0 to 99. */
export function choosePriority(
  loads: PriorityLoads,
  point: number,
): { readonly priority: number; readonly isDegraded: boolean } {
  let reached = 0;
  for (let priority = 0; priority < loads.healthy.length; priority++) {
    reached += loads.healthy[priority] ?? 0;
    if (point < reached) return { priority, isDegraded: false };
  }
  for (let priority = 0; priority < loads.degraded.length; priority++) {
    reached += loads.degraded[priority] ?? 0;
    if (point < reached) return { priority, isDegraded: true };
  }
  return { priority: 0, isDegraded: false };
}

function isShort({ counted, healthy, degraded }: PriorityHosts, panicThreshold: number): boolean {
  const usable = counted === 0 ? 0 : (100 * (healthy.length + degraded.length)) / counted;
  return usable < panicThreshold;
}

function spread(
  healthy: readonly number[],
  degraded: readonly number[],
  available: number,
): Pick<PriorityLoads, 'healthy' | 'degraded'> {
  let left = 100;
  const take = (availability: number): number => {
    const load = Math.min(left, Math.floor((availability * 100) / available));
    left -= load;
    return load;
  };
  const loads = { healthy: healthy.map(take), degraded: degraded.map(take) };
  // What rounding left over goes to the first priority that has anything.
  const firstHealthy = healthy.findIndex((availability) => availability > 0);
  const firstDegraded = degraded.findIndex((availability) => availability > 0);
  const [list, first] =
    firstHealthy >= 0 ? [loads.healthy, firstHealthy] : [loads.degraded, firstDegraded];
  if (first >= 0) list[first] = (list[first] ?? 0) + left;
  return loads;
}

/** Nothing is usable anywhere: each priority gets its share of all hosts. */
function panicLoads(
  priorities: readonly PriorityHosts[],
): Pick<PriorityLoads, 'healthy' | 'degraded'> {
  const total = sum(priorities.map(({ all }) => all.length));
  if (total === 0) return { healthy: onlyFirst(priorities), degraded: none(priorities) };
  const healthy = priorities.map(({ all }) => Math.floor((100 * all.length) / total));
  const first = priorities.findIndex(({ all }) => all.length > 0);
  healthy[first] = (healthy[first] ?? 0) + 100 - sum(healthy);
  return { healthy, degraded: none(priorities) };
}

function onlyFirst(priorities: readonly PriorityHosts[]): readonly number[] {
  return priorities.map((_, priority) => (priority === 0 ? 100 : 0));
}

function none(priorities: readonly PriorityHosts[]): readonly number[] {
  return priorities.map(() => 0);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
