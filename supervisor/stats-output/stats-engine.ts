/**
 * The statistics of the server as one part: the store, each worker's share in it, the flush cycle
 * and the admin pages, put together from a resolved configuration. The composition of the
 * supervisor feeds it the workers' lives and reports and tells it how to ask them.
 */
import { errorText } from '../../shared/text/error-text.ts';
import type { WaitTracer } from '../loop/contention.ts';
import type { Query } from '../http-pages/query.ts';
import type { Clock } from '../../shared/process/clock.ts';
import { LoopTurns } from '../loop/loop-turns.ts';
import type { StatsReport } from '../../shared/stats/report.ts';
import { ALL_TEMPLATES } from '../../shared/stats/templates/all-templates.ts';
import { SERVER } from '../../shared/stats/templates/server.ts';
import type { AdminResponse } from '../http-pages/admin-response.ts';
import { EpochExport, ParentShare, type EpochStats } from '../stats/epoch-exchange.ts';
import { EndpointStats, type EndpointStatValues } from '../stats/endpoint-stats.ts';
import { FlushCycle } from './flush-cycle.ts';
import { bucketBounds } from '../stats/name-matcher.ts';
import { OrderedView } from '../stats/ordered-view.ts';
import { DashboardSink, type DashboardCluster } from './sinks/dashboard-sink.ts';
import { makeSinks, type SinkParts } from './sinks/make-sinks.ts';
import { SinkWriter } from './sinks/sink-writer.ts';
import type { SocketAddress } from '../stats/sink-config.ts';
import type { StatStore } from '../stats/stat-store.ts';
import type { StatsConfig } from '../stats/stats-config.ts';
import { StatsPages } from './stats-pages.ts';
import { TagExtractor } from '../stats/tags/tag-extractor.ts';
import { TagGroups } from '../stats/tags/tag-groups.ts';
import { WorkerShare } from '../stats/worker-share.ts';

/** Set to false: `filter` is read as ECMAScript reads it. */
const filterKeys = ['proxy', 'envoy'].map(
  (first) => `${first}.reloadable_features.admin_stats_filter_use_re2`,
);

/** Workers whose last figures a page or a flush lacked, since they did not answer in time. */
const LATE_WORKERS = 'sluice.stats.late_workers';

type RuntimeValues = ReadonlyMap<string, { readonly text: string }>;

export interface SinkCluster extends DashboardCluster {
  /** The cluster's own name; `name` is the one in the names of stats. */
  readonly configuredName: string;
  /** TCP sinks connect to one of them. */
  readonly hosts: readonly SocketAddress[];
}

export interface StatsEngineOptions {
  readonly store: StatStore;
  readonly config: StatsConfig;
  readonly clock: Clock;
  /** Asks every worker for its deltas; resolves with the workers that did not answer in time. */
  collect(limitMs: number): Promise<readonly number[]>;
  /** Told of waits for the thread that matches filters. */
  readonly traceWait?: WaitTracer | undefined;
  /** Sets gauges that are only computed for readers, such as `server.uptime`. */
  refresh(): void | Promise<void>;
  htmlForm(query: Query, listing: Iterable<string>): AdminResponse;
  /** The final runtime values as they are now; none without it. */
  runtime?(): RuntimeValues;
  /** For sinks: what clusters there are now; none without it. */
  clusters?(): readonly SinkCluster[];
  /** Hosts of clusters that want statistics of each; none without it. */
  endpoints?(): Iterable<EndpointStatValues>;
  /** For sinks that stream to a service. */
  readonly services?: SinkServices;
  log(level: 'debug' | 'info' | 'warning' | 'error', text: string): void;
}

interface SinkSources {
  readonly view: OrderedView;
  readonly endpoints: EndpointStats;
  readonly extractor: TagExtractor;
}

type SinkServices = Pick<SinkParts, 'openGrpc' | 'openCollector' | 'identifier'>;

const NO_SERVICES: SinkServices = {
  openGrpc: () => Promise.reject(new Error('cannot send statistics: there is no service')),
  openCollector: () => Promise.reject(new Error('cannot send statistics: there is no service')),
  identifier: () => Promise.resolve(new Uint8Array()),
};

export class StatsEngine {
  readonly store: StatStore;
  readonly pages: StatsPages;
  /** Shared by everything of the supervisor that takes long. */
  readonly turns: LoopTurns;
  readonly #dashboard: DashboardSink | undefined;
  readonly #sinks: SinkWriter | undefined;
  readonly #view: OrderedView;
  #export: EpochExport | undefined;
  #mergeParent: (limitMs: number) => Promise<void> = () => Promise.resolve();
  /** A child epoch has taken the telling of sinks over. */
  #isChildTelling = false;
  readonly #cycle: FlushCycle;
  readonly #templates = new Map(ALL_TEMPLATES.map((template) => [template.id, template]));
  /** By worker index: the share of the life that is now in that slot. */
  readonly #shares = new Map<number, WorkerShare>();

  constructor(options: StatsEngineOptions) {
    const { config } = options;
    this.store = options.store;
    const extractor = new TagExtractor(config.tagRules, ({ tag }) =>
      options.log('warning', `the expression of the tag ${tag} takes too long: it is left out`),
    );
    this.turns = new LoopTurns(options.clock);
    const view = new OrderedView(this.store, this.turns);
    const figures = (): Iterable<EndpointStatValues> => options.endpoints?.() ?? [];
    const endpoints = new EndpointStats(this.store, figures, extractor.fixedTags);
    this.#view = view;
    const dashboard = makeDashboard(this.store, this.turns, options);
    this.#dashboard = dashboard;
    this.#sinks =
      config.sinks.length === 0
        ? undefined
        : this.#makeSinkWriter(options, { view, endpoints, extractor });
    this.#cycle = new FlushCycle({
      clock: options.clock,
      intervalMs: config.flushIntervalMs,
      onAdmin: config.flushOnAdmin,
      steps: this.#steps(options),
    });
    this.pages = new StatsPages({
      store: this.store,
      view,
      tagGroups: new TagGroups(extractor, config.customTagRules),
      endpoints,
      clock: options.clock,
      turns: this.turns,
      traceWait: options.traceWait,
      boundsOf: bucketBounds(config.histogramBuckets),
      beforeRead: async () => this.#cycle.beforeRead(),
      dashboardStream: dashboard === undefined ? undefined : () => dashboard.connect(),
      isEcmaScriptFilter: () => isSwitchedOff(options.runtime?.()),
      htmlForm: (query, listing) => options.htmlForm(query, listing),
    });
  }

  /** Begins to flush by the timer. */
  start(): void {
    this.#cycle.start();
  }

  /** Ends the timer. */
  stop(): void {
    this.#cycle.stop();
  }

  /** Serves the sinks one last time, after the workers' last reports, and closes them. */
  async finish(): Promise<void> {
    this.#cycle.stop();
    if (this.#sinks === undefined) return;
    this.store.flushHistograms();
    if (!this.#isChildTelling) await this.#sinks.write();
    await this.#sinks.close();
  }

  /**
   * What this epoch tells its child on each of the child's questions; the first time totals. From
   * then on the child tells the sinks. A child that cannot know that totals were exported to sinks
   * before is exported what comes after them only.
   */
  async exportForChild(
    knowsTotals: boolean,
  ): Promise<EpochStats & { readonly areTotals: boolean }> {
    await this.#cycle.collect();
    const isFirst = !this.#isChildTelling;
    if (isFirst) await this.#sinks?.write();
    this.#isChildTelling = true;
    this.#export ??= new EpochExport(this.store, this.#view);
    const sinks = this.#sinks;
    if (!isFirst || sinks === undefined) {
      return { ...(await this.#export.take()), areTotals: isFirst && knowsTotals };
    }
    // Workers may have reported since the sinks were served: the child has to tell them of that.
    const exported = await this.#export.take((index) => sinks.seenOf(index));
    if (knowsTotals) return { ...exported, areTotals: true };
    return { ...(await this.#export.take()), areTotals: false };
  }

  /** The child died: this epoch tells the sinks again, and the next child everything. */
  forgetChild(): void {
    this.#isChildTelling = false;
    this.#export?.startAgain();
  }

  /**
   * From now on the statistics of the epoch before are brought in with those of the workers.
   * `merge` resolves when they are in, or at the latest after the limit.
   */
  followParent(merge: (limitMs: number) => Promise<void>): void {
    this.#mergeParent = merge;
  }

  /** The share of a parent epoch; it has to be exported to leave when the parent is gone. */
  parentShare(): ParentShare {
    return new ParentShare(this.store);
  }

  /** Brings in the workers' deltas for a page that shows statistics (`/clusters`). */
  async beforeRead(): Promise<void> {
    await this.#cycle.collect();
  }

  /** A new life begins in the slot of a worker. */
  workerSpawned(workerIndex: number): void {
    this.#shares.get(workerIndex)?.leave();
    this.#shares.set(workerIndex, new WorkerShare(this.store, this.#templates));
  }

  workerReported(workerIndex: number, report: StatsReport): void {
    this.#shares.get(workerIndex)?.apply(report);
  }

  /** A worker's life has ended: its gauges leave, its counters and histograms stay. */
  workerGone(workerIndex: number): void {
    this.#shares.get(workerIndex)?.leave();
    this.#shares.delete(workerIndex);
  }

  #makeSinkWriter(
    options: StatsEngineOptions,
    { view, endpoints, extractor }: SinkSources,
  ): SinkWriter {
    const { store } = this;
    const dashboard = this.#dashboard;
    const hostOf = (cluster: string): SocketAddress | undefined =>
      options.clusters?.().find(({ configuredName }) => configuredName === cluster)?.hosts[0];
    return new SinkWriter({
      store,
      view,
      turns: this.turns,
      endpoints,
      boundsOf: bucketBounds(options.config.histogramBuckets),
      makeSinks: async () =>
        makeSinks(options.config.sinks, {
          extractor,
          dashboard,
          hostOf,
          ...(options.services ?? NO_SERVICES),
          nowMs: () => options.clock.wallMs(),
          warn: (text) => options.log('warning', text),
        }),
      onFailure: (error) => options.log('warning', errorText(error)),
    });
  }

  #steps(options: StatsEngineOptions): ConstructorParameters<typeof FlushCycle>[0]['steps'] {
    const server = this.store.defineBlock(SERVER, 'server.');
    const { store } = this;
    return {
      collect: async (limitMs) => {
        const [late] = await Promise.all([options.collect(limitMs), this.#mergeParent(limitMs)]);
        return late;
      },
      refresh: async () => {
        await options.refresh();
        store.setGauge(server + SERVER.index.stats_recent_lookups, store.recentLookups.total);
      },
      closeIntervals: () => store.flushHistograms(),
      writeSinks: async () => {
        if (!this.#isChildTelling) await this.#sinks?.write();
      },
      onDropped: () => store.increment(server + SERVER.index.dropped_stat_flushes),
      onLate: (workers) => {
        store.add(store.defineCounter(LATE_WORKERS), workers.length);
        options.log('warning', `no statistics in time from worker ${workers.join(', ')}`);
      },
      onFailure: (error) => options.log('error', `cannot flush statistics: ${String(error)}`),
    };
  }
}

function makeDashboard(
  store: StatStore,
  turns: LoopTurns,
  options: StatsEngineOptions,
): DashboardSink | undefined {
  const { config, clock } = options;
  const dashboard = config.sinks.find((sink) => sink.kind === 'dashboard');
  if (dashboard === undefined) return undefined;
  return new DashboardSink({
    store,
    clock,
    turns,
    intervalMs: config.flushIntervalMs,
    windowFlushes: dashboard.windowFlushes,
    clusters: () => options.clusters?.() ?? [],
  });
}

function isSwitchedOff(runtime: RuntimeValues | undefined): boolean {
  return filterKeys.some((key) => runtime?.get(key)?.text === 'false');
}
