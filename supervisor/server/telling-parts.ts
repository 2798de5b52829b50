/**
 * The upper tier of a server's parts: what it tells the world of itself, in statistics, on pages
 * and over streams to services, which are clusters.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { getLogger } from '../../shared/logging/process-log.ts';
import { errorText } from '../../shared/text/error-text.ts';
import { statsForm } from '../admin/home/stats-form.ts';
import { ContentionTracer, type WaitTracer } from '../loop/contention.ts';
import { TrafficHistory } from '../recent/traffic-history.ts';
import { StatsEngine, type StatsEngineOptions } from '../stats-output/stats-engine.ts';
import { locateHost } from '../upstreams/hosts/locate-host.ts';
import type { UpstreamClusters } from '../upstreams/upstream-clusters.ts';
import { workerPids, type BaseParts, type ServerPartsInput } from './base-parts.ts';
import { makeHealthDiscovery } from './health-discovery-part.ts';
import { type ControlPart, makeLoadStats } from './load-stats-part.ts';
import { makeServiceStreams } from './service-streams.ts';
import { sinkDependencies } from './sink-dependencies.ts';

export interface TellingParts {
  readonly stats: StatsEngine;
  /** The last two minutes. */
  readonly recent: TrafficHistory;
  /** Loads and checks for control planes. */
  readonly controls: readonly ControlPart[];
  /** With `--enable-mutex-tracing` only. */
  readonly contention: ContentionTracer | undefined;
}

export function makeTellingParts(
  input: ServerPartsInput,
  { node, statStore, serverStats, gauges, runtime }: BaseParts,
  upstreams: UpstreamClusters,
): TellingParts {
  const { clock, configuration, pool } = input;
  const { contention, waits } = makeContention(input, upstreams);
  const streams = makeServiceStreams({ ...input, node }, { upstreams, statStore });
  const stats = new StatsEngine({
    store: statStore,
    config: configuration.resolved.stats,
    clock,
    ...waits,
    refresh: async () => {
      serverStats.refresh(workerPids(pool), gauges.connections());
      await upstreams.refreshGauges();
    },
    htmlForm: statsForm,
    runtime: () => runtime.snapshot(),
    ...sinkDependencies(streams, { upstreams, statStore }),
    log: getLogger('stats').log,
  });
  for (const { index } of pool.status()) stats.workerSpawned(index);
  return {
    stats,
    recent: makeRecent(input, stats, upstreams),
    controls: [
      makeLoadStats(input, streams, { upstreams, statStore, stats }),
      makeHealthDiscovery(input, streams, { upstreams, statStore }),
    ],
    contention,
  };
}

/** A worker that does not answer delays an interval by no more than this. */
const RECENT_LIMIT_MS = 1_000;

function makeRecent(
  { clock, pool }: ServerPartsInput,
  stats: StatsEngine,
  upstreams: UpstreamClusters,
): TrafficHistory {
  return new TrafficHistory({
    store: stats.store,
    clock,
    turns: stats.turns,
    collect: async (isFirst) => {
      if (isFirst) await stats.beforeRead();
      else await pool.flushStats(RECENT_LIMIT_MS);
    },
    locate: (prefix) => locateHost(prefix, upstreams),
    onFailure: (error) => getLogger('stats').log('warning', `no history: ${errorText(error)}`),
  });
}

/** What is counted of waits, and what the statistics wait for. */
function makeContention(
  { options, clock, pool }: ServerPartsInput,
  upstreams: UpstreamClusters,
): {
  readonly contention: ContentionTracer | undefined;
  readonly waits: Pick<StatsEngineOptions, 'collect' | 'traceWait'>;
} {
  const collect = async (limitMs: number): Promise<readonly number[]> => {
    // Who reads that an update was taken may count on its being in force.
    if (upstreams.tellNow()) await nextTurn();
    return await pool.flushStats(limitMs);
  };
  if (!options.enableMutexTracing) return { contention: undefined, waits: { collect } };
  const contention = new ContentionTracer(clock);
  const traceWait: WaitTracer = async (work) => await contention.trace(work);
  pool.traceWaits(traceWait);
  return { contention, waits: { collect, traceWait } };
}
