/** Whether two versions of a host, or of a list of hosts, say the same. */
import { isDeepStrictEqual } from 'node:util';
import type { HostResource } from '../../../shared/resources/clusters/cluster.ts';
import { atOnce, type Steps } from '../../loop/loop-turns.ts';
import { isSamePlace } from '../../../shared/resources/clusters/host-place.ts';

type Fields = Readonly<Record<string, unknown>>;

/** As `isDeepStrictEqual` says it, but much faster; no field is there and undefined. */
export function isSameHost(before: HostResource, after: HostResource): boolean {
  return before === after || (before.id === after.id && isSameValue(before, after));
}

/** Whether at most its state is another, for which the configuration may have several words. */
export function isSameButForHealth(before: HostResource, after: HostResource): boolean {
  const { healthBits: _bits, configuredHealth: _said, ...known } = before;
  const { health, healthBits: _newBits, configuredHealth: _newlySaid, ...said } = after;
  return isSameHost({ ...known, health }, { ...said, health });
}

/**
 * The hosts of `after`, each as the object that stands for it in `before` where that says the same;
 * `before` itself where all do, in whatever order they come.
 */
export function keepSameHosts(
  before: readonly HostResource[],
  after: readonly HostResource[],
): readonly HostResource[] {
  return atOnce(keepSameHostsInSteps(before, after));
}

/** Hosts that are compared in one step. */
const HOSTS_PER_STEP = 1000;

/** As `keepSameHosts`. */
export function* keepSameHostsInSteps(
  before: readonly HostResource[],
  after: readonly HostResource[],
): Steps<readonly HostResource[]> {
  let isOther = before.length !== after.length;
  let byId: ReadonlyMap<string, HostResource> | undefined;
  const kept: HostResource[] = [];
  for (const [position, host] of after.entries()) {
    let known = before[position];
    if (known?.id !== host.id) {
      byId ??= new Map(before.map((each) => [each.id, each]));
      known = byId.get(host.id);
    }
    const same = known !== undefined && isSameHost(known, host) ? known : undefined;
    isOther ||= same === undefined;
    kept.push(same ?? host);
    if (kept.length % HOSTS_PER_STEP === 0) yield;
  }
  return isOther ? kept : before;
}

/**
 * Priorities that a host is gone from or has come to; where it stands elsewhere in one, that one.
 */
export function changedPriorities(before: HostResource, after: HostResource): readonly number[] {
  const isElsewhere = before.priority !== after.priority || !isSamePlace(before, after);
  return isElsewhere ? [before.priority, after.priority] : NONE;
}

const NONE: readonly number[] = [];

function isSameValue(before: unknown, after: unknown): boolean {
  if (before === after) return true;
  if (isPlain(before) && isPlain(after)) return haveSameFields(before, after);
  if (!Array.isArray(before) || !Array.isArray(after)) return isDeepStrictEqual(before, after);
  return (
    before.length === after.length &&
    before.every((item: unknown, position) => isSameValue(item, after[position]))
  );
}

function haveSameFields(before: Fields, after: Fields): boolean {
  let count = 0;
  for (const name in after) {
    count += 1;
    if (!isSameValue(before[name], after[name])) return false;
  }
  return count === Object.keys(before).length;
}

function isPlain(value: unknown): value is Fields {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}
