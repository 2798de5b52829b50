/** The reporter of loads, where the bootstrap names a service for it; loaded only then. */
import { getLogger } from '../../shared/logging/process-log.ts';
import type { LoadReporter } from '../load-stats/load-reporter.ts';
import type { StatsEngine } from '../stats-output/stats-engine.ts';
import type { ServerPartsInput } from './base-parts.ts';
import type { ServiceClusters, ServiceStreams } from './service-streams.ts';

/** What runs for a control plane beside the configuration that it sends. */
export interface ControlPart {
  start(): void;
  close(): void;
}

export function makeLoadStats(
  { clock, configuration }: ServerPartsInput,
  { openGrpc, node }: ServiceStreams,
  { upstreams, statStore, stats }: ServiceClusters & { readonly stats: StatsEngine },
): ControlPart {
  const target = configuration.resolved.loadStats;
  let reporter: LoadReporter | undefined;
  let isClosed = false;
  const start = async (): Promise<void> => {
    if (target === undefined) return;
    const { LoadReporter: Reporter } = await import('../load-stats/load-reporter.ts');
    const { LoadMessages } = await import('../load-stats/load-messages.ts');
    if (isClosed) return;
    reporter = new Reporter({
      target,
      clock,
      stats: statStore,
      clusters: () => upstreams.all(),
      collect: async () => await stats.beforeRead(),
      open: openGrpc,
      messages: new LoadMessages(node.message),
      log: getLogger('upstream').warning,
    });
    reporter.start();
  };
  return {
    start: () => void start(),
    close: () => {
      isClosed = true;
      reporter?.close();
    },
  };
}
