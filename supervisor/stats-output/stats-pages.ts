/**
 * The statistics endpoints of the admin interface. A read first brings in the workers' deltas, so
 * that a client sees what it just caused; the page itself is streamed.
 */
import type { Exemplar } from '../../shared/messages/exemplars.ts';
import type { WaitTracer } from '../loop/contention.ts';
import type { Clock } from '../../shared/process/clock.ts';
import { LoopTurns, type Steps } from '../loop/loop-turns.ts';
import { SharedSteps } from '../loop/shared-steps.ts';
import type { Query } from '../http-pages/query.ts';
import type { AdminResponse } from '../http-pages/admin-response.ts';
import type { StatsPages as StatsEndpoints, StatsQuestion } from './stats-questions.ts';
import { changesAsJson, changesAsText } from './changes/changes-page.ts';
import { StatCursors } from './changes/stat-changes.ts';
import { CONTENT_TYPES } from './exposition.ts';
import type { EndpointStats } from '../stats/endpoint-stats.ts';
import { ecmaScriptFilter, re2Filter } from '../stats/name-filter.ts';
import { visitInSteps, type OrderedView, type Segment } from '../stats/ordered-view.ts';
import { jsonPage } from './render/json-page.ts';
import { prometheusPage } from './render/prometheus-page.ts';
import { prometheusPlan, type Family } from './render/prometheus-plan.ts';
import { protobufPage } from './render/protobuf-page.ts';
import { textPage, type TextPageOptions } from './render/text-page.ts';
import { resetInSteps } from '../stats/reset-steps.ts';
import type { StatStore } from '../stats/stat-store.ts';
import { readStatsParams, type StatsParams } from './stats-params.ts';
import { type NameFilter } from '../stats/name-filter.ts';
import type { TagGroups } from '../stats/tags/tag-groups.ts';

export interface StatsPagesOptions {
  readonly store: StatStore;
  readonly view: OrderedView;
  readonly tagGroups: TagGroups;
  readonly endpoints: EndpointStats;
  readonly clock: Clock;
  /** Shared with whatever else takes long. */
  readonly turns?: LoopTurns;
  readonly traceWait?: WaitTracer | undefined;
  readonly boundsOf: (name: string) => readonly number[];
  /** Whether `filter` is ECMAScript's syntax instead of RE2's. */
  isEcmaScriptFilter(): boolean;
  /** Brings the store up to date before it is read. */
  beforeRead(): Promise<void>;
  readonly dashboardStream: (() => AdminResponse) | undefined;
  /** Builds the page around the listing for `format=html`. */
  htmlForm(query: Query, listing: Iterable<string>): AdminResponse;
}

/** The families of a Prometheus page, and the segments that they are made from. */
interface Plan {
  readonly segments: readonly Segment[];
  readonly families: SharedSteps<readonly Family[]>;
}

/** The parameters that choose statistics. */
const CHOOSING = ['filter', 'invert_filter', 'type', 'hidden', 'usedonly'] as const;
/** Names collected in one step. */
const NAMES_PER_STEP = 512;

export class StatsPages implements StatsEndpoints {
  readonly #options: StatsPagesOptions;
  readonly #turns: LoopTurns;
  readonly #cursors: StatCursors;
  #plan: Plan | undefined;

  constructor(options: StatsPagesOptions) {
    this.#options = options;
    this.#cursors = new StatCursors(options.store);
    this.#turns = options.turns ?? new LoopTurns(options.clock);
  }

  get dashboardStream(): (() => AdminResponse) | undefined {
    return this.#options.dashboardStream;
  }

  async read(
    path: string,
    { query, accept, acceptEncoding, exemplars }: StatsQuestion,
  ): Promise<AdminResponse> {
    if (path === '/stats/recentlookups') return this.#recentLookupsPage();
    const pattern = query.nonEmpty('filter');
    const filter = pattern === undefined ? undefined : await this.#filter(pattern);
    const isPrometheus = path === '/stats/prometheus';
    const read = readStatsParams({ query, accept, isPrometheus, filter });
    if (!read.ok) return { status: 400, body: read.error };
    await this.#options.beforeRead();
    if (read.params.since !== '') return await this.#changes(read.params, query);
    const wantsExemplars = read.params.exposition === 'openmetrics';
    const found = wantsExemplars ? await exemplars?.() : undefined;
    const page = this.#page(read.params, query, found ?? []);
    return read.params.isGzipped && acceptsGzip(acceptEncoding)
      ? { ...page, isGzipped: true }
      : page;
  }

  recentLookups(command: 'enable' | 'disable' | 'clear'): AdminResponse {
    this.#options.store.recentLookups[command]();
    return { status: 200, body: 'OK\n' };
  }

  /** Workers' deltas are brought in first, or they would be counted again. */
  async resetCounters(): Promise<void> {
    await this.#options.beforeRead();
    await this.#turns.run(resetInSteps(this.#options.store));
  }

  /** What only ECMAScript knows has matched all names before, in a thread. */
  async #filter(pattern: string): Promise<NameFilter> {
    if (!this.#options.isEcmaScriptFilter()) return await this.#turns.run(re2Filter(pattern));
    const filter = await this.#turns.run(ecmaScriptFilter(pattern));
    if (filter !== undefined) return filter;
    await this.#options.beforeRead();
    const { matchGuarded } = await import('../stats/guarded-filter/guarded-filter.ts');
    const names = await this.#names();
    const { clock, traceWait = async (work) => await work() } = this.#options;
    const accepted = await traceWait(async () => await matchGuarded(pattern, names, clock));
    if (accepted === undefined) return `Invalid regex '${pattern}': it takes too long\n`;
    return (name) => accepted.has(name);
  }

  async #names(): Promise<readonly string[]> {
    return await this.#turns.run(this.#namesInSteps());
  }

  *#namesInSteps(): Steps<readonly string[]> {
    const names: string[] = [];
    for (const segment of yield* this.#options.view.inSteps()) {
      for (const group of ['texts', 'scalars', 'histograms'] as const) {
        const add = (_: number, prefix: string, suffix: string) => names.push(prefix + suffix);
        yield* visitInSteps(segment, group, add, NAMES_PER_STEP);
      }
      yield;
    }
    for (const { name } of this.#options.endpoints.all()) {
      names.push(name);
      yield;
    }
    return names;
  }

  async #changes({ since, format, selection }: StatsParams, query: Query): Promise<AdminResponse> {
    const choice = CHOOSING.map((name) => query.first(name) ?? '').join('\n');
    const atMs = this.#options.clock.wallMs();
    const segments = await this.#options.view.segments();
    const asked = { since, choice, selection, atMs };
    const changes = await this.#turns.run(this.#cursors.changes(asked, segments));
    if (typeof changes === 'string') return { status: 400, body: changes };
    return format === 'json'
      ? { status: 200, contentType: 'application/json', body: changesAsJson(changes) }
      : { status: 200, body: changesAsText(changes) };
  }

  #page(params: StatsParams, query: Query, exemplars: readonly Exemplar[]): AdminResponse {
    const { format } = params;
    switch (format) {
      case 'text':
        return { status: 200, body: this.#listed(params, textPage) };
      case 'json':
        return {
          status: 200,
          contentType: 'application/json',
          body: this.#listed(params, jsonPage),
        };
      case 'html':
        return this.#options.htmlForm(query, this.#listed(params, textPage));
      case 'prometheus': {
        const contentType = CONTENT_TYPES[params.exposition];
        return {
          status: 200,
          ...(contentType === undefined ? {} : { contentType }),
          body: this.#prometheusBody(params, exemplars),
        };
      }
    }
  }

  /** The order is made with the page, so that it is not made for clients that are gone. */
  *#listed(
    { selection, histogramMode }: StatsParams,
    page: (listing: TextPageOptions) => Generator<string>,
  ): Generator<string> {
    const { store, endpoints, boundsOf, view } = this.#options;
    const segments = yield* view.inSteps();
    yield* page({ store, segments, endpoints, selection, histogramMode, boundsOf });
  }

  *#prometheusBody(
    params: StatsParams,
    exemplars: readonly Exemplar[],
  ): Generator<string | Uint8Array> {
    const { prometheusMode: histogramMode } = params;
    const { store, endpoints, boundsOf, view } = this.#options;
    const segments = yield* view.inSteps();
    const families = yield* this.#planOf(segments).families.result();
    const page = { ...params, store, endpoints, histogramMode, boundsOf, families, exemplars };
    yield* params.exposition === 'protobuf' ? protobufPage(page) : prometheusPage(page);
  }

  /** Readers that come meanwhile share one. */
  #planOf(segments: readonly Segment[]): Plan {
    const known = this.#plan;
    if (known?.segments === segments && !known.families.hasFailed) return known;
    const { store, tagGroups } = this.#options;
    const families = new SharedSteps(prometheusPlan(store, segments, tagGroups));
    return (this.#plan = { segments, families });
  }

  #recentLookupsPage(): AdminResponse {
    const { recentLookups } = this.#options.store;
    const total = `\ntotal: ${recentLookups.total}\n`;
    if (!recentLookups.enabled) {
      const hint = 'Lookup tracking is not enabled. Use /stats/recentlookups/enable to enable.\n';
      return { status: 200, body: hint + total };
    }
    const lines = recentLookups
      .list()
      .map(([name, count]) => `${String(count).padStart(8)} ${name}\n`);
    return { status: 200, body: `   Count Lookup\n${lines.join('')}${total}` };
  }
}

function acceptsGzip(acceptEncoding: string): boolean {
  return acceptEncoding.split(',').some((entry) => /^\s*(gzip|\*)\s*(;|$)/.test(entry));
}
