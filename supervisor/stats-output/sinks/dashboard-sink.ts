/**
 * The circuit breaker dashboard: after each flush every connected client gets, for each cluster,
 * one event about its requests and one about its queue, as server-sent events. Counts are over a
 * rolling window of flushes, latency is the last interval's. A client that does not keep up is
 * dropped. While there is no client nothing is counted: a window begins with the first one.
 */
import type { Clock } from '../../../shared/process/clock.ts';
import { CLUSTER } from '../../../shared/stats/templates/cluster.ts';
import type { LoopTurns, Steps } from '../../loop/loop-turns.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import type { Definition, StatStore } from '../../stats/stat-store.ts';
import { commandEvent, poolEvent, type ClusterStatValues } from './dashboard-events.ts';
import type { StatsSink } from './stats-sink.ts';

/** A client with this many flushes waiting is dropped. */
const MAX_WAITING_FLUSHES = 16;

/** Answers by class. They exist from the first event on, as in Envoy, whatever was answered. */
const ANSWERS = [
  'retry.upstream_rq_4xx',
  'retry.upstream_rq_5xx',
  'upstream_rq_2xx',
  'upstream_rq_4xx',
  'upstream_rq_5xx',
] as const;

type Answer = (typeof ANSWERS)[number];

export interface DashboardCluster {
  /** As statistics name it. */
  readonly name: string;
  readonly maxRequests: number;
  readonly maxPendingRequests: number;
}

export interface DashboardOptions {
  readonly store: StatStore;
  readonly clock: Clock;
  readonly turns: LoopTurns;
  readonly intervalMs: number;
  /** Flushes that the rolling window spans. */
  readonly windowFlushes: number;
  clusters(): readonly DashboardCluster[];
}

/** Totals since the start; the window is the newest less the oldest. */
interface Totals {
  readonly errors: number;
  readonly successes: number;
  readonly timeouts: number;
  readonly rejected: number;
}

export class DashboardSink implements StatsSink {
  readonly #options: DashboardOptions;
  readonly #clients = new Set<Client>();
  readonly #windows = new Map<string, Totals[]>();
  /** By cluster: its answers' counters, which would not exist yet otherwise. */
  readonly #held = new Map<string, readonly Definition[]>();

  constructor(options: DashboardOptions) {
    this.#options = options;
  }

  /** A new client's answer: it lasts until the client goes or is too slow. */
  connect(): AdminResponse {
    const client = new Client(() => {
      this.#clients.delete(client);
      if (this.#clients.size === 0) this.#windows.clear();
    });
    this.#clients.add(client);
    return {
      status: 200,
      contentType: 'text/event-stream',
      headers: {
        'cache-control': 'no-cache',
        'access-control-allow-headers': 'Accept, Cache-Control, X-Requested-With, Last-Event-ID',
        'access-control-allow-origin': '*',
      },
      body: client,
      isEndless: true,
    };
  }

  async flush(): Promise<void> {
    if (this.#clients.size === 0 && this.#held.size === 0) return;
    const clusters = this.#options.clusters();
    const events = await this.#options.turns.run(this.#events(clusters));
    for (const client of this.#clients) client.push(events);
  }

  *#events(clusters: readonly DashboardCluster[]): Steps<string> {
    this.#forgetOthers(new Set(clusters.map(({ name }) => name)));
    let events = '';
    for (const cluster of clusters) {
      if (this.#clients.size === 0) break;
      const figures = this.#figures(cluster);
      events += commandEvent(figures) + poolEvent(figures);
      yield;
    }
    return `${events}:\n\n`;
  }

  close(): void {
    for (const client of this.#clients) client.end();
  }

  #forgetOthers(names: ReadonlySet<string>): void {
    for (const [name, held] of this.#held) {
      if (names.has(name)) continue;
      this.#windows.delete(name);
      this.#held.delete(name);
      for (const definition of held) this.#options.store.release(definition);
    }
  }

  #figures(cluster: DashboardCluster): ClusterStatValues {
    const { store, clock, intervalMs, windowFlushes } = this.#options;
    const prefix = `cluster.${cluster.name}.`;
    if (!this.#held.has(cluster.name)) {
      const held = ANSWERS.map((answer) => store.holdNamed('counter', prefix + answer));
      this.#held.set(cluster.name, held);
    }
    const base = store.find(CLUSTER, prefix)?.base;
    const value = (stat: keyof typeof CLUSTER.index): number =>
      base === undefined ? 0 : store.valueOf(base + CLUSTER.index[stat]);
    const named = (name: Answer): number =>
      store.valueOf(store.findNamed(prefix + name)?.base ?? -1);
    const window = this.#windows.get(cluster.name) ?? [];
    this.#windows.set(cluster.name, window);
    const sum = (...names: readonly Answer[]): number =>
      names.reduce((total, name) => total + named(name), 0);
    window.push({
      // An expired request also counts as 5xx.
      errors:
        sum(
          'upstream_rq_5xx',
          'upstream_rq_4xx',
          'retry.upstream_rq_5xx',
          'retry.upstream_rq_4xx',
        ) - value('upstream_rq_timeout'),
      successes: sum('upstream_rq_2xx'),
      timeouts: value('upstream_rq_timeout') + value('upstream_rq_per_try_timeout'),
      rejected: value('upstream_rq_pending_overflow'),
    });
    if (window.length > windowFlushes + 1) window.shift();
    const time = store.findNamed(`${prefix}upstream_rq_time`);
    return {
      cluster,
      unixSeconds: Math.floor(clock.wallMs() / 1000),
      intervalMs,
      ...rolling(window),
      active: value('upstream_rq_active'),
      pending: value('upstream_rq_pending_active'),
      hosts: value('membership_total'),
      latency: time === undefined ? undefined : store.histogramOf(time.base)?.interval,
    };
  }
}

function rolling(window: readonly Totals[]): Totals {
  const newest = window.at(-1) as Totals;
  const oldest = window[0] as Totals;
  // A reset of the counters must not make a window negative.
  const since = (key: keyof Totals): number => Math.max(0, newest[key] - oldest[key]);
  return {
    errors: since('errors'),
    successes: since('successes'),
    timeouts: since('timeouts'),
    rejected: since('rejected'),
  };
}

/** One client: a queue with an end, read by the admin as the body of an answer. */
class Client implements AsyncIterable<string> {
  readonly #waiting: string[] = [];
  readonly #onEnd: () => void;
  #wake: (() => void) | undefined;
  #isEnded = false;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  push(events: string): void {
    if (this.#waiting.length >= MAX_WAITING_FLUSHES) this.end();
    else this.#waiting.push(events);
    this.#wake?.();
  }

  end(): void {
    this.#isEnded = true;
    this.#onEnd();
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    try {
      while (!this.#isEnded) {
        const events = this.#waiting.shift();
        if (events !== undefined) {
          yield events;
          continue;
        }
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    } finally {
      this.#isEnded = true;
      this.#onEnd();
    }
  }
}
