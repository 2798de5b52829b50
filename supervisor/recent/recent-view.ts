/** What happened lately, as the admin interface reads it. */
import type { Refusals } from '../../shared/messages/refusals.ts';
import type { TrafficHistory } from './traffic-history.ts';

export interface RecentView extends Pick<
  TrafficHistory,
  'intervals' | 'activeHosts' | 'openByWorker' | 'sickClusters'
> {
  /** What each worker refused last. */
  refusals(): Promise<readonly Refusals[]>;
}
