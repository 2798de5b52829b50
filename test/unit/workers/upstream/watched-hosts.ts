import { atOnce } from '../../../../supervisor/loop/loop-turns.ts';
import { createOutlierPage } from '../../../../shared/limits/outlier-page.ts';
import { type RuntimeValue } from '../../../../shared/resources/runtime.ts';
import { OUTLIER_DETECTION } from '../../../../shared/stats/templates/cluster-features.ts';
import { OutlierDetector } from '../../../../supervisor/health/outlier-detector.ts';
import { type OutlierEvent } from '../../../../supervisor/health/outlier-events.ts';
import { withRuntime } from '../../../../supervisor/health/outlier-runtime.ts';
import { OutlierSlots } from '../../../../supervisor/health/outlier-slots.ts';
import { type OutlierSettings } from '../../../../supervisor/resolved/outlier-settings.ts';
import { OutlierMonitor } from '../../../../workers/upstream/hosts/outlier-monitor.ts';
import { WorkerStatStore } from '../../../../workers/stats/worker-stat-store.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** Hosts of one cluster under outlier detection, by a clock of the test's own. */

export const SETTINGS: OutlierSettings = {
  thresholds: {
    splitsErrors: false,
    detectsDegraded: false,
    consecutive: {
      consecutive_5xx: 3,
      consecutive_gateway_failure: 3,
      consecutive_local_origin_failure: 3,
    },
  },
  intervalMs: 1000,
  baseEjectionMs: 500,
  maxEjectionMs: 2000,
  maxEjectionJitterMs: 0,
  maxEjectionPercent: 100,
  alwaysEjectsOne: false,
  endsByCheck: true,
  successRate: { minimumHosts: 3, requestVolume: 10, deviationFactor: 1 },
  failurePercentage: { minimumHosts: 3, requestVolume: 10, threshold: 50 },
  enforcing: {
    consecutive_5xx: 100,
    consecutive_gateway_failure: 100,
    consecutive_local_origin_failure: 100,
    success_rate: 100,
    local_origin_success_rate: 100,
    failure_percentage: 100,
    local_origin_failure_percentage: 100,
  },
};

export const HOSTS = ['a', 'b', 'c', 'd'] as const;

export type HostName = (typeof HOSTS)[number];

/** A detector with four hosts and, for each, a worker's monitor. */
export function watched(
  changes: Partial<OutlierSettings> = {},
  runtime: ReadonlyMap<string, RuntimeValue> = new Map(),
): {
  readonly clock: ManualClock;
  readonly detector: OutlierDetector;
  readonly ejected: Set<string>;
  readonly degraded: Set<string>;
  readonly events: Omit<OutlierEvent, 'cluster'>[];
  readonly monitor: (host: HostName) => OutlierMonitor;
  readonly stat: (name: keyof typeof OUTLIER_DETECTION.index) => number;
} {
  const settings = { ...SETTINGS, ...changes };
  const clock = new ManualClock();
  const slots = new OutlierSlots(createOutlierPage());
  const writer = new WorkerStatStore();
  const base = writer.defineBlock(OUTLIER_DETECTION, 'cluster.c.outlier_detection.');
  const ejected = new Set<string>();
  const degraded = new Set<string>();
  const events: Omit<OutlierEvent, 'cluster'>[] = [];
  const detector = new OutlierDetector({
    settings: () => withRuntime(settings, runtime),
    page: slots.page,
    clock,
    random: () => 0.5,
    writer,
    statName: 'c',
    log: (event) => events.push(event),
    flagged: (host, flag, isSet) => {
      const flagged = flag === 'failed_outlier_check' ? ejected : degraded;
      if (isSet) flagged.add(host);
      else flagged.delete(host);
    },
  });
  const places = new Map(HOSTS.map((id) => [id, slots.take() ?? 0]));
  atOnce(detector.setHosts(HOSTS.map((id) => ({ id, slot: places.get(id) ?? 0 }))));
  return {
    clock,
    detector,
    ejected,
    degraded,
    events,
    monitor: (host) =>
      new OutlierMonitor({
        page: slots.page,
        slot: places.get(host) ?? 0,
        thresholds: settings.thresholds,
        runtime: { snapshot: runtime },
        report: (kind) => detector.detected(host, kind),
      }),
    stat: (name) => writer.valueOf(base + OUTLIER_DETECTION.index[name]),
  };
}
