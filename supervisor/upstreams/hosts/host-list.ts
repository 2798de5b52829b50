/**
 * The hosts of one version of a cluster in their order: takes each set that the source gives, keeps
 * what stays, and joins to each host what active checks and outlier detection say of it. It counts
 * what it holds; who needs to hear of a change is its owner's business.
 */
import { isDeepStrictEqual } from 'node:util';
import type { HostResource } from '../../../shared/resources/clusters/cluster.ts';
import { ACTIVE_CHECK_BITS, HEALTH_BITS } from '../../../shared/resources/clusters/host-health.ts';
import { isSamePlace } from '../../../shared/resources/clusters/host-place.ts';
import { atOnce, type Steps } from '../../loop/loop-turns.ts';
import type { OutlierDetector } from '../../health/outlier-detector.ts';
import { changedPriorities, isSameButForHealth, isSameHost } from '../sources/same-host.ts';
import { type CheckCounts, type HostChecks, noneChecked } from './host-checks.ts';
import { byPriority, type HostState, joinState } from './host-state.ts';
import { HostStates, type HostStatesOptions } from './host-states.ts';
import { type HostCounts, type MembershipStats, noHosts, noteHost } from './membership-stats.ts';

export interface HostListOptions extends HostStatesOptions {
  readonly checks: HostChecks;
  readonly stats: MembershipStats;
  readonly outlier: OutlierDetector | undefined;
}

/** Hosts of a set that are looked at in one step. */
const HOSTS_PER_STEP = 256;

/** What is said of a set beside its hosts. */
export interface SetRemarks {
  /** A change is counted even where all hosts were there already. */
  readonly isChange: boolean;
  /** It comes with another policy: it is another set even with the same hosts. */
  readonly hasOtherPolicy: boolean;
  /** Prepares what is another set for those who are told of it, before it is in force. */
  readonly prepare: (hosts: readonly HostResource[]) => Steps<void> | undefined;
}

/** What a set of hosts changes. */
interface SetChanges {
  /** In which hosts came or went. */
  readonly priorities: Set<number>;
  readonly added: HostResource[];
  isOther: boolean;
}

export class HostList {
  readonly #options: HostListOptions;
  readonly #states: HostStates;
  #hosts: HostResource[] = [];
  /** By position of their hosts. */
  #ordered: readonly HostState[] = [];
  /** The number of the present set. */
  #set = 0;
  /** States that were changed since the hosts of the next set were joined with theirs. */
  #touched: Set<HostState> | undefined;

  constructor(options: HostListOptions) {
    this.#options = options;
    this.#states = new HostStates(options);
  }

  /** By priority, within one as the source gave them. */
  get hosts(): readonly HostResource[] {
    return this.#hosts;
  }

  get(id: string): HostState | undefined {
    return this.#states.get(id);
  }

  /** Those that are in the list, whatever it says of them. Most stand where they stood. */
  *known(hosts: readonly HostResource[]): Steps<readonly HostResource[]> {
    const known: HostResource[] = [];
    for (const [position, host] of hosts.entries()) {
      const isThere = this.#ordered[position]?.given.id === host.id;
      if (isThere || this.#states.get(host.id) !== undefined) known.push(host);
      if ((position + 1) % HOSTS_PER_STEP === 0) yield;
    }
    return known;
  }

  /**
   * These are the hosts after the last step: until then the list is what it was, while the states
   * of hosts that stay may have what is new. No other set may begin in between. Returns whether
   * anything but the order is new.
   */
  *set(hosts: readonly HostResource[], remarks: SetRemarks): Steps<boolean> {
    const { stats, outlier } = this.#options;
    const { isChange, hasOtherPolicy } = remarks;
    const priorities = new Set<number>();
    const changes: SetChanges = { priorities, added: [], isOther: isChange || hasOtherPolicy };
    const taken: HostState[] = [];
    this.#set += 1;
    for (const [at, host] of hosts.entries()) {
      if ((at + 1) % HOSTS_PER_STEP === 0) yield;
      const state = this.#stateOf(host, taken.length, changes);
      if (state === undefined) continue;
      state.given = host;
      state.set = this.#set;
      state.bits &= ~HEALTH_BITS.pending_dynamic_removal;
      taken.push(state);
    }
    yield* this.#forgetGone(taken, priorities);
    const count = Math.max(priorities.size, isChange ? 1 : 0);
    if (count > 0) yield* stats.membershipChanged(changes.added, count);
    if (priorities.size > 0 && outlier !== undefined)
      yield* outlier.setHosts(this.#states.watched());
    const isOther = changes.isOther || priorities.size > 0;
    // The order alone is nothing new.
    const ordered = isOther ? yield* byPriority(taken) : this.#ordered;
    const joined = yield* this.#joinAll(ordered);
    const preparing = isOther ? remarks.prepare(joined.hosts) : undefined;
    if (preparing !== undefined) yield* preparing;
    this.#put(ordered, joined, isOther);
    return isOther;
  }

  /**
   * What the present set would be without this host and those that are only kept while they pass.
   */
  without(id: string): readonly HostResource[] {
    return this.#hosts.filter((host) => {
      const state = this.#states.get(host.id);
      return host.id !== id && (state === undefined || !isLeaving(state));
    });
  }

  /**
   * The state of a host says something else than before. Returns whether that makes it another host
   * for balancers; undefined for one that is not in the list yet, which is told with its set.
   */
  rejoin(state: HostState): boolean | undefined {
    this.#touched?.add(state);
    if (this.#ordered[state.position] !== state) return undefined;
    const before = state.host;
    const after = joinState(before, state);
    state.host = after;
    this.#hosts[state.position] = after;
    this.#options.stats.replaceHost(before, after);
    this.#options.checks.recount(before, after);
    return changesChoice(before, after);
  }

  /** The cluster is gone: what its hosts hold in shared pages is given back. */
  clear(): void {
    this.#states.clear();
  }

  /** `position`: where it may have stood. Undefined: this host is in the set already. */
  #stateOf(host: HostResource, position: number, changes: SetChanges): HostState | undefined {
    // Most hosts of a large set stand where they stood.
    let state = this.#ordered[position];
    if (state?.given.id !== host.id) state = this.#states.get(host.id);
    const { priorities, added } = changes;
    if (state === undefined) {
      added.push(host);
      priorities.add(host.priority);
      return this.#states.add(host, this.#options.checks.firstBits(host));
    }
    if (state.set === this.#set) return undefined;
    if (!this.#isOneHost(state.given, host)) {
      priorities.add(state.given.priority).add(host.priority);
      return this.#replaceHost(state, host);
    }
    // Where the source says nothing new of it, it is what it was.
    if (!isSameHost(state.given, host)) {
      // No more is asked of a host that is another for balancers, and makes the whole set another.
      const isSent = changes.isOther || !isSameButForHealth(state.given, host);
      const { health } = state.host;
      for (const priority of this.#changeHost(state, host)) priorities.add(priority);
      // Another reason for the same health is shown, but as in Envoy no other set.
      if (isSent || state.host.health !== health) changes.isOther = true;
    }
    return state;
  }

  /**
   * Checks go on under another name, and what they found counts; without them that is another host.
   */
  #isOneHost(before: HostResource, host: HostResource): boolean {
    const isChecked = this.#options.resolved.resource.healthChecks !== undefined;
    return (isChecked || before.hostname === host.hostname) && isSamePlace(before, host);
  }

  /** What is said to be elsewhere is another host, of which only checks know something. */
  #replaceHost(before: HostState, host: HostResource): HostState {
    before.set = this.#set;
    this.#states.forget(before);
    this.#options.outlier?.forget(host.id);
    return this.#states.add(host, before.bits & ACTIVE_CHECK_BITS);
  }

  /** Returns the priorities in which the host counts as one that came or went. */
  #changeHost(state: HostState, host: HostResource): readonly number[] {
    const { checks, stats } = this.#options;
    const { metadata } = state.given;
    let priorities = changedPriorities(state.given, host);
    if (checks.isChecked(state.given) !== checks.isChecked(host)) {
      checks.learnAgain(state, host);
      priorities = [...priorities, host.priority];
    }
    const isMatched = metadata !== host.metadata && !isDeepStrictEqual(metadata, host.metadata);
    if (isMatched) atOnce(stats.matched([host]));
    const joined = joinState(host, state);
    // The object that stood for the host before, while it says the same.
    if (!isSameHost(state.host, joined)) state.host = joined;
    return priorities;
  }

  /**
   * Forgets those that the present set lacks, and notes their priorities; puts such as may not go
   * behind `taken`.
   */
  *#forgetGone(taken: HostState[], priorities: Set<number>): Steps<void> {
    for (const [at, state] of this.#ordered.entries()) {
      if ((at + 1) % HOSTS_PER_STEP === 0) yield;
      if (state.set === this.#set) continue;
      if (this.#options.checks.keeps(state)) {
        state.bits |= HEALTH_BITS.pending_dynamic_removal;
        taken.push(state);
      } else {
        this.#states.forget(state);
        priorities.add(state.host.priority);
      }
    }
  }

  /** Each with what its state says, and where it will stand. */
  *#joinAll(states: readonly HostState[]): Steps<Joined> {
    const { checks } = this.#options;
    const touched = new Set<HostState>();
    this.#touched = touched;
    const joined: Joined = { hosts: [], counts: noHosts(), passing: noneChecked(), touched };
    for (let position = 0; position < states.length; position++) {
      const state = states[position] as HostState;
      state.host = joinState(state.host, state);
      state.position = position;
      joined.hosts.push(state.host);
      noteHost(joined.counts, state.host, 1);
      checks.note(joined.passing, state.host, 1);
      if ((position + 1) % HOSTS_PER_STEP === 0) yield;
    }
    return joined;
  }

  /** In force, and shown. */
  #put(
    states: readonly HostState[],
    { hosts, counts, passing, touched }: Joined,
    isOther: boolean,
  ): void {
    const { stats, checks } = this.#options;
    this.#touched = undefined;
    this.#ordered = states;
    this.#hosts = hosts;
    for (const state of touched) {
      const before = hosts[state.position];
      if (before === undefined || states[state.position] !== state) continue;
      const after = joinState(state.host, state);
      state.host = after;
      hosts[state.position] = after;
      for (const [host, change] of [
        [before, -1],
        [after, 1],
      ] as const) {
        noteHost(counts, host, change);
        checks.note(passing, host, change);
      }
    }
    stats.setHosts(counts, isOther);
    checks.countedAll(passing);
  }
}

/** A set that is about to be in force. */
interface Joined {
  readonly hosts: HostResource[];
  readonly counts: HostCounts;
  readonly passing: CheckCounts;
  readonly touched: ReadonlySet<HostState>;
}

/** The source gives it no more; it stays while it passes its checks. */
export function isLeaving({ bits }: HostState): boolean {
  return (bits & HEALTH_BITS.pending_dynamic_removal) !== 0;
}

/** Whether it counts as another host for balancers; what failed there last is nothing to them. */
function changesChoice({ healthBits: before = 0 }: HostResource, after: HostResource): boolean {
  return ((before ^ (after.healthBits ?? 0)) & ~HEALTH_BITS.active_hc_timeout) !== 0;
}
