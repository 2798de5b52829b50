/** What the admin interface asks of the statistics. Types only. */
import type { Exemplar } from '../../shared/messages/exemplars.ts';
import type { AdminResponse } from '../http-pages/admin-response.ts';
import type { Query } from '../http-pages/query.ts';

export interface StatsQuestion {
  readonly query: Query;
  /** The headers `accept` and `accept-encoding`, empty when absent. */
  readonly accept: string;
  readonly acceptEncoding: string;
  /** For OpenMetrics: the latest sampled requests. Absent: there are none. */
  readonly exemplars?: () => Promise<readonly Exemplar[]>;
}

export interface StatsPages {
  /** `path` is one of `/stats`, `/stats/prometheus`, `/stats/recentlookups`. */
  read(path: string, question: StatsQuestion): Promise<AdminResponse>;
  /** `/stats/recentlookups/enable|disable|clear`. */
  recentLookups(command: 'enable' | 'disable' | 'clear'): AdminResponse;
  resetCounters(): Promise<void>;
  /** The circuit breaker dashboard's endless answer; absent without its sink. */
  readonly dashboardStream?: (() => AdminResponse) | undefined;
}
