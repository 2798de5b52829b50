/** The outlier detector of one version of a cluster, with its event log. */
import type { HostResource } from '../../shared/resources/clusters/cluster.ts';
import { OutlierDetector, type OutlierFlag } from '../health/outlier-detector.ts';
import { OutlierLog } from '../health/outlier-log.ts';
import { withRuntime } from '../health/outlier-runtime.ts';
import type { LiveClusterOptions } from './live-cluster-options.ts';

export interface WatchedHosts {
  readonly hostOf: (id: string) => HostResource | undefined;
  /** A host is ejected or degraded, or no more. */
  readonly flagged: (id: string, flag: OutlierFlag, isSet: boolean) => void;
}

/** Undefined for a cluster that does not want any. */
export function watchOutliers(
  options: LiveClusterOptions,
  { hostOf, flagged }: WatchedHosts,
): OutlierDetector | undefined {
  const { resolved, eventLogs, outlierLogPath: path } = options;
  const settings = resolved.outlierDetection;
  if (settings === undefined) return undefined;
  const { name: cluster, statName } = resolved.resource;
  const log = new OutlierLog({ cluster, eventLogs, path, hostOf });
  return new OutlierDetector({
    ...options,
    settings: () => withRuntime(settings, options.runtime()),
    page: options.slots().page,
    statName,
    log: (event) => log.write(event),
    flagged,
  });
}
