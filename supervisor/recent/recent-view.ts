/** What happened lately, as the admin interface reads it. */
import type { Exemplar } from '../../shared/messages/exemplars.ts';
import type { Refusals } from '../../shared/messages/refusals.ts';
import type { TrafficHistory } from './traffic-history.ts';

export interface RecentView extends Pick<
  TrafficHistory,
  'intervals' | 'activeHosts' | 'openByWorker' | 'sickClusters'
> {
  /** What each worker refused last. */
  refusals(): Promise<readonly Refusals[]>;
  /** The latest sampled requests of all workers. */
  exemplars(): Promise<readonly Exemplar[]>;
}
