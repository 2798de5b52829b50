/** The parameters of the statistics pages, as `/help` and the home page's forms show them. */
import { flag, oneOf, text } from './admin-route.ts';
import type { AdminParam } from './admin-route.ts';

const USED_ONLY = flag(
  'usedonly',
  'Only include stats that have been written by system since restart',
);
const FILTER = text('filter', 'Regular expression (Google re2) for filtering stats');
const INVERT_FILTER = flag('invert_filter', 'Invert the filter regex');
const BUCKETS_HELP = 'Histogram bucket display mode';

export const STATS_PARAMS: readonly AdminParam[] = [
  USED_ONLY,
  FILTER,
  INVERT_FILTER,
  oneOf('format', ['html', 'active-html', 'text', 'json'], 'Format to use'),
  oneOf(
    'type',
    ['All', 'Counters', 'Histograms', 'Gauges', 'TextReadouts'],
    'Stat types to include.',
  ),
  oneOf('histogram_buckets', ['cumulative', 'disjoint', 'detailed', 'summary'], BUCKETS_HELP),
];

export const PROMETHEUS_PARAMS: readonly AdminParam[] = [
  USED_ONLY,
  flag(
    'text_readouts',
    'Render text_readouts as new gaugues with value 0 (increases Prometheus data size)',
  ),
  FILTER,
  INVERT_FILTER,
  oneOf('histogram_buckets', ['cumulative', 'summary'], BUCKETS_HELP),
];
