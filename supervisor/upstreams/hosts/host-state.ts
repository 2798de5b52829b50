/**
 * What the supervisor knows of a host beside its configuration, and the two joined to what workers
 * get.
 */
import type { HostResource } from '../../../shared/resources/clusters/cluster.ts';
import { sortedInSteps, type Steps } from '../../loop/loop-turns.ts';
import { HEALTH_BITS, healthOf } from '../../../shared/resources/clusters/host-health.ts';

export interface HostState {
  /** What the source gave last: where it gives the same again, nothing needs to be compared. */
  given: HostResource;
  /** As workers get it. */
  host: HostResource;
  /** The number of the last set that it was in. */
  set: number;
  /** Where it is in the list. */
  position: number;
  bits: number;
  wasChecked: boolean;
  /** Where new hosts start slowly. */
  readySinceMs: number | undefined;
  slot: number | undefined;
  /** Where the cluster limits the connections of each host. */
  breakerSlot: number | undefined;
}

type Writable<Fields> = { -readonly [Name in keyof Fields]: Fields[Name] };

const CONFIGURED_BITS =
  HEALTH_BITS.failed_eds_health | HEALTH_BITS.eds_status_draining | HEALTH_BITS.degraded_eds_health;

/** `host` with what the state says; itself where it says that already. */
export function joinState(host: HostResource, state: HostState): HostResource {
  const { slot: outlierSlot, wasChecked, breakerSlot, readySinceMs } = state;
  const known = host.healthBits ?? 0;
  const healthBits = (CONFIGURED_BITS & known) | state.bits;
  const isSame = outlierSlot === host.outlierSlot && wasChecked === (host.wasChecked === true);
  const hasSlot = breakerSlot === host.breakerSlot;
  const isKnown = isSame && hasSlot && readySinceMs === host.readySinceMs;
  if (isKnown && healthBits === known) return host;
  // Spreading what is optional would make objects of ten thousand hosts that are slow to read.
  const joined: Writable<HostResource> = { ...host, healthBits, health: healthOf(healthBits) };
  if (outlierSlot !== undefined) joined.outlierSlot = outlierSlot;
  if (breakerSlot !== undefined) joined.breakerSlot = breakerSlot;
  if (readySinceMs !== undefined) joined.readySinceMs = readySinceMs;
  if (wasChecked) joined.wasChecked = true;
  return joined;
}

/** Hosts that are looked at in one step. */
const HOSTS_PER_STEP = 1024;

/** The same states, in the order of their priorities. */
export function* byPriority(states: HostState[]): Steps<readonly HostState[]> {
  let highest = 0;
  for (let at = 0; at < states.length; at++) {
    const { priority } = (states[at] as HostState).host;
    if (priority < highest) {
      return yield* sortedInSteps(
        states,
        (left, right) => left.host.priority - right.host.priority,
      );
    }
    highest = priority;
    if ((at + 1) % HOSTS_PER_STEP === 0) yield;
  }
  return states;
}
