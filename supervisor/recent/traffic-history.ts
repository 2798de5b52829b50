/**
 * What happened in the last two minutes: requests, refusals and errors of all connection managers
 * in intervals of five seconds, and what each host did within the last minute. It is kept all the
 * time, so that somebody who looks after an alarm sees how it began.
 */
import { LISTENER_WORKER } from '../../shared/stats/templates/listener.ts';
import { CLUSTER } from '../../shared/stats/templates/cluster.ts';
import {
  HTTP_CONNECTION_MANAGER,
  ROUTER,
} from '../../shared/stats/templates/http-connection-manager.ts';
import type { Clock, Timer } from '../../shared/process/clock.ts';
import type { LoopTurns, Steps } from '../loop/loop-turns.ts';
import type { Definition, StatStore } from '../stats/stat-store.ts';
import { FoundBlocks } from './found-blocks.ts';
import { type HostMinute, type HostPlace, HostTrack } from './host-minute.ts';

const PERIOD_MS = 5_000;
/** Two minutes. */
const INTERVALS_MAX = 24;
/** Hosts with intervals of their own at once: about half a kilobyte each. */
const ACTIVE_HOSTS_MAX = 4_096;
/** Clusters with hosts out of service that are remembered by name. */
const SICK_CLUSTERS_MAX = 256;
const DEFINITIONS_PER_STEP = 512;
const MANAGER = HTTP_CONNECTION_MANAGER.index;

export interface TrafficInterval {
  readonly seconds: number;
  readonly requests: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  readonly unrouted: number;
  /** Open at its end. */
  readonly connections: number;
}

export interface TrafficHistoryOptions {
  readonly store: Pick<StatStore, 'valueOf' | 'definitions' | 'generation'>;
  readonly clock: Clock;
  readonly turns: LoopTurns;
  /** Brings the workers' counts in; `isFirst`: those of an epoch before too. */
  collect(isFirst: boolean): Promise<void>;
  /** Which host a block of statistics belongs to, by the block's prefix. */
  locate(prefix: string): HostPlace | undefined;
  onFailure(error: unknown): void;
}

type Totals = Omit<TrafficInterval, 'seconds'>;

export class TrafficHistory {
  readonly #options: TrafficHistoryOptions;
  readonly #intervals: TrafficInterval[] = [];
  #timer: Timer | undefined;
  #isSampling = false;
  #generation = -1;
  #found = new FoundBlocks();
  #hosts = new Map<Definition, HostTrack>();
  #sickClusters: readonly string[] = [];
  #last: { readonly atMs: number; readonly totals: Totals } | undefined;
  #count = 0;

  constructor(options: TrafficHistoryOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock } = this.#options;
    // Hosts count from now on.
    void this.#take(true, (isFirst) => this.#lookAgain(isFirst));
    this.#timer = clock.every(PERIOD_MS, () => void this.sample(), { unref: true });
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** The oldest first. */
  intervals(): readonly TrafficInterval[] {
    return this.#intervals;
  }

  /** Hosts that did something within the last minute; undefined is a place to pause at. */
  *activeHosts(): Generator<HostMinute | undefined> {
    const { store } = this.#options;
    yield* this.#lookAgain(false);
    let count = 0;
    for (const [definition, track] of this.#hosts) {
      if (++count % DEFINITIONS_PER_STEP === 0) yield undefined;
      const minute = definition.live ? track.read(store) : undefined;
      if (minute !== undefined) yield minute;
    }
  }

  /** Open connections of clients by worker. */
  *openByWorker(): Steps<ReadonlyMap<number, number>, undefined> {
    const { store } = this.#options;
    yield* this.#lookAgain(false);
    const open = new Map<number, number>();
    let count = 0;
    for (const { worker, definition } of this.#found.shares) {
      if (++count % DEFINITIONS_PER_STEP === 0) yield undefined;
      const { base, live } = definition;
      const own = live ? store.valueOf(base + LISTENER_WORKER.index.downstream_cx_active) : 0;
      open.set(worker, (open.get(worker) ?? 0) + own);
    }
    return open;
  }

  /** Names, in statistics, of clusters of which not all hosts are healthy. */
  sickClusters(): readonly string[] {
    return this.#sickClusters;
  }

  /** Ends an interval; skipped while one is being ended. */
  async sample(): Promise<void> {
    await this.#take(this.#last === undefined, () => this.#steps());
  }

  async #take(isFirst: boolean, steps: (isFirst: boolean) => Steps<void>): Promise<void> {
    if (this.#isSampling) return;
    this.#isSampling = true;
    const options = this.#options;
    try {
      await options.collect(isFirst);
      await options.turns.run(steps(isFirst));
    } catch (error) {
      options.onFailure(error);
    } finally {
      this.#isSampling = false;
    }
  }

  *#steps(): Steps<void> {
    const { clock } = this.#options;
    yield* this.#lookAgain(false);
    const totals = this.#totals();
    const atMs = clock.monotonicMs();
    if (this.#last !== undefined) this.#intervals.push(difference(this.#last, { atMs, totals }));
    if (this.#intervals.length > INTERVALS_MAX) this.#intervals.shift();
    this.#last = { atMs, totals };
    yield* this.#advanceHosts();
    this.#sickClusters = yield* this.#findSick();
  }

  /** Hosts that are there from the beginning have counts of which nobody knows when they were. */
  *#lookAgain(isFirst: boolean): Steps<void, undefined> {
    const { store } = this.#options;
    const { generation } = store;
    if (generation === this.#generation) return;
    const found = new FoundBlocks();
    let count = 0;
    for (const definition of store.definitions()) {
      if (++count % DEFINITIONS_PER_STEP === 0) yield undefined;
      found.add(definition);
    }
    const hosts = new Map<Definition, HostTrack>();
    for (const definition of found.hosts) {
      if (++count % DEFINITIONS_PER_STEP === 0) yield undefined;
      const track = this.#trackOf(definition);
      if (track === undefined) continue;
      if (isFirst) track.begin(store);
      hosts.set(definition, track);
    }
    // Another reader was faster, and hosts may have begun to count in what it made.
    if (this.#generation === generation) return;
    this.#hosts = hosts;
    this.#found = found;
    this.#generation = generation;
  }

  #trackOf(definition: Definition): HostTrack | undefined {
    const known = this.#hosts.get(definition);
    if (known !== undefined) return known;
    const place = this.#options.locate(definition.name);
    return place && new HostTrack(place, definition);
  }

  #totals(): Totals {
    const { managers } = this.#found;
    return {
      requests: this.#sum(managers, MANAGER.downstream_rq_total),
      clientErrors: this.#sum(managers, MANAGER.downstream_rq_4xx),
      serverErrors: this.#sum(managers, MANAGER.downstream_rq_5xx),
      unrouted: this.#sum(this.#found.routers, ROUTER.index.no_route),
      connections: this.#sum(managers, MANAGER.downstream_cx_active),
    };
  }

  #sum(definitions: readonly Definition[], offset: number): number {
    const { store } = this.#options;
    let sum = 0;
    for (const { base, live } of definitions) if (live) sum += store.valueOf(base + offset);
    return sum;
  }

  *#advanceHosts(): Steps<void> {
    const { store } = this.#options;
    let active = 0;
    for (const track of this.#hosts.values()) if (track.isActive) active++;
    let count = 0;
    const interval = this.#count++;
    for (const [definition, track] of this.#hosts) {
      if (++count % DEFINITIONS_PER_STEP === 0) yield;
      if (!definition.live) continue;
      const wasActive = track.isActive;
      track.advance(store, interval, active < ACTIVE_HOSTS_MAX);
      if (track.isActive && !wasActive) active++;
    }
  }

  *#findSick(): Steps<readonly string[]> {
    const { store } = this.#options;
    const { membership_total: all, membership_healthy: healthy } = CLUSTER.index;
    const sick: string[] = [];
    let count = 0;
    for (const { base, name, live } of this.#found.clusters) {
      if (++count % DEFINITIONS_PER_STEP === 0) yield;
      if (!live || store.valueOf(base + all) <= store.valueOf(base + healthy)) continue;
      sick.push(name.slice('cluster.'.length, -1));
      if (sick.length === SICK_CLUSTERS_MAX) break;
    }
    return sick;
  }
}

function difference(
  before: { readonly atMs: number; readonly totals: Totals },
  now: { readonly atMs: number; readonly totals: Totals },
): TrafficInterval {
  const gain = (name: keyof Totals): number =>
    // After a reset of the counters, what they have gained since.
    now.totals[name] >= before.totals[name]
      ? now.totals[name] - before.totals[name]
      : now.totals[name];
  return {
    seconds: (now.atMs - before.atMs) / 1000,
    requests: gain('requests'),
    clientErrors: gain('clientErrors'),
    serverErrors: gain('serverErrors'),
    unrouted: gain('unrouted'),
    connections: now.totals.connections,
  };
}
