/**
 * Counts and times the searches for the routes of each request, where a connection manager asks for
 * it. Nothing of this runs for the others.
 */
import type { Clock } from '../../shared/process/clock.ts';
import { ROUTE_LOOKUPS } from '../../shared/stats/templates/http-connection-manager.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { ResolvedRoute, RouteTable } from '../stream/route.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { ManagerLedger } from './manager-ledger.ts';
import type { LastRefusals } from './last-refusals.ts';
import type { ManagerStats } from './manager-stats.ts';
import type { RouteSource } from './manager.ts';

const { index } = ROUTE_LOOKUPS;
const MICROSECONDS = 1000;

interface Lookups {
  count: number;
  tookMs: number;
}

type Times = WeakMap<StreamInfo, Lookups>;

/** The same routes, and a ledger that knows how often and how long they were searched. */
export function timedRoutes(
  source: RouteSource,
  clock: Pick<Clock, 'monotonicMs'>,
  stats: ManagerStats,
  refusals: Pick<LastRefusals, 'note'>,
): { readonly source: RouteSource; readonly ledger: ManagerLedger } {
  const times: Times = new WeakMap();
  const timed = new WeakMap<RouteTable, RouteTable>();
  const wrap = (table: RouteTable): RouteTable => {
    let wrapped = timed.get(table);
    if (wrapped === undefined) timed.set(table, (wrapped = new TimedTable(table, clock, times)));
    return wrapped;
  };
  return {
    source: {
      tableFor: (headers) => {
        const table = source.tableFor(headers);
        return table && wrap(table);
      },
      missingFor: (headers) => source.missingFor?.(headers),
    },
    ledger: new LookupLedger(stats, refusals, times),
  };
}

class TimedTable implements RouteTable {
  readonly #table: RouteTable;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #times: Times;

  constructor(table: RouteTable, clock: Pick<Clock, 'monotonicMs'>, times: Times) {
    this.#table = table;
    this.#clock = clock;
    this.#times = times;
  }

  get name(): string {
    return this.#table.name;
  }

  get internalOnlyHeaders(): readonly string[] {
    return this.#table.internalOnlyHeaders;
  }

  get isOnDemand(): boolean {
    return this.#table.isOnDemand;
  }

  hasHost(headers: HeaderMap): boolean {
    return this.#table.hasHost(headers);
  }

  match(headers: HeaderMap, info: StreamInfo): ResolvedRoute | undefined {
    const begin = this.#clock.monotonicMs();
    const route = this.#table.match(headers, info);
    const tookMs = this.#clock.monotonicMs() - begin;
    const lookups = this.#times.get(info);
    if (lookups === undefined) this.#times.set(info, { count: 1, tookMs });
    else {
      lookups.count += 1;
      lookups.tookMs += tookMs;
    }
    return route;
  }

  explain(headers: HeaderMap, info: StreamInfo): ReturnType<RouteTable['explain']> {
    return this.#table.explain(headers, info);
  }
}

class LookupLedger extends ManagerLedger {
  readonly #stats: ManagerStats;
  readonly #base: number;
  readonly #times: Times;

  constructor(stats: ManagerStats, refusals: Pick<LastRefusals, 'note'>, times: Times) {
    super(stats, refusals);
    this.#stats = stats;
    this.#base = stats.addBlock(ROUTE_LOOKUPS);
    this.#times = times;
  }

  override ended(info: StreamInfo, tookMs: number): void {
    super.ended(info, tookMs);
    const { count = 0, tookMs: searchMs = 0 } = this.#times.get(info) ?? {};
    const { writer } = this.#stats;
    writer.record(this.#base + index.downstream_rq_route_resolutions, count);
    writer.record(
      this.#base + index.downstream_rq_route_resolution_time_us,
      Math.round(searchMs * MICROSECONDS),
    );
  }
}
