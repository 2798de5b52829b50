/**
 * Tells a control plane how much its clusters have to do (`load_stats_config`): a stream on which it
 * says which clusters it wants to hear of and how often, and gets their loads since the last time.
 * API: envoy.service.load_stats.v3.LoadReportingService.
 */
import type { LoadStatsResponse } from '../../shared/api/generated/envoy/service/load_stats/v3/lrs.ts';
import type { JsonObject } from '../../shared/api/well-known.ts';
import type { Clock, Timer } from '../../shared/process/clock.ts';
import type { GrpcTarget } from '../../shared/resources/grpc-target.ts';
import { LOAD_REPORTER } from '../../shared/stats/templates/load-reporter.ts';
import { errorText } from '../../shared/text/error-text.ts';
import type { GrpcStream } from '../services/grpc-client.ts';
import { type OpenStream, RenewedStream } from '../services/renewed-stream.ts';
import type { StatStore } from '../stats/stat-store.ts';
import { durationMsOr } from '../resources/values.ts';
import type { LiveCluster } from '../upstreams/live-cluster.ts';
import { HostLoads } from './host-loads.ts';
import type { LoadMessages } from './load-messages.ts';

const METHOD = '/envoy.service.load_stats.v3.LoadReportingService/StreamLoadStats';
/** A stream that ended is opened again after so long. */
const RETRY_MS = 5_000;
/** Shorter intervals than the API allows would only make reports of nothing. */
const LEAST_INTERVAL_MS = 1;
/** Names that are kept of what a control plane asks for. */
const CLUSTERS_MAX = 100_000;

export interface LoadReporterOptions {
  readonly target: GrpcTarget;
  readonly clock: Clock;
  readonly stats: StatStore;
  readonly clusters: () => Iterable<LiveCluster>;
  /** Brings in what workers have counted. */
  readonly collect: () => Promise<void>;
  readonly open: OpenStream;
  readonly messages: LoadMessages;
  readonly log: (text: string) => void;
}

/** A cluster that the control plane wants to hear of. */
interface Watched {
  readonly loads: HostLoads;
  sinceMs: number;
}

export class LoadReporter {
  readonly #options: LoadReporterOptions;
  readonly #base: number;
  readonly #link: RenewedStream;
  #retry: Timer | undefined;
  #period: Timer | undefined;
  #wanted: LoadStatsResponse | undefined;
  #watched = new Map<string, Watched>();

  constructor(options: LoadReporterOptions) {
    this.#options = options;
    this.#base = options.stats.defineBlock(LOAD_REPORTER, 'load_reporter.');
    this.#link = new RenewedStream((handlers) => options.open(options.target, METHOD, handlers), {
      opened: (stream) => this.#send(stream, {}),
      received: (bytes) => this.#received(bytes),
      lost: (reason) => this.#lost(reason),
    });
  }

  start(): void {
    void this.#link.connect();
  }

  close(): void {
    this.#forget();
    this.#retry?.cancel();
  }

  #lost(reason: string): void {
    this.#count('errors');
    this.#options.log(`load reporting stream ended: ${reason}`);
    this.#forget();
    this.#retry = this.#options.clock.after(
      RETRY_MS,
      () => {
        this.#count('retries');
        void this.#link.connect();
      },
      { unref: true },
    );
  }

  /** The next stream begins from nothing. */
  #forget(): void {
    this.#period?.cancel();
    this.#link.close();
    this.#wanted = undefined;
    this.#watched.clear();
  }

  #received(bytes: Uint8Array): void {
    try {
      this.#wanted = this.#options.messages.decode(bytes);
    } catch (error) {
      return this.#lost(errorText(error));
    }
    this.#count('requests');
    this.#watch();
    this.#arm();
  }

  /** Clusters that were wanted before go on from their last report; new ones begin now. */
  #watch(): void {
    const before = this.#watched;
    this.#watched = new Map();
    for (const cluster of this.#wantedClusters()) {
      this.#watched.set(cluster.name, before.get(cluster.name) ?? this.#begin(cluster));
    }
  }

  #begin(cluster: LiveCluster): Watched {
    const loads = new HostLoads(this.#options.stats);
    loads.begin(cluster);
    return { loads, sinceMs: this.#options.clock.monotonicMs() };
  }

  *#wantedClusters(): Generator<LiveCluster> {
    const { clusters = [], send_all_clusters: wantsAll = false } = this.#wanted ?? {};
    const names = new Set(clusters.slice(0, CLUSTERS_MAX));
    for (const cluster of this.#options.clusters()) {
      if (wantsAll || names.has(cluster.name)) yield cluster;
    }
  }

  #arm(): void {
    this.#period?.cancel();
    const intervalMs = durationMsOr(this.#wanted?.load_reporting_interval, 0);
    this.#period = this.#options.clock.after(
      Math.max(LEAST_INTERVAL_MS, intervalMs),
      () => void this.#report(),
      { unref: true },
    );
  }

  async #report(): Promise<void> {
    const stream = this.#link.current;
    if (stream === undefined) return;
    try {
      await this.#options.collect();
      if (stream !== this.#link.current) return;
      // A control plane that does not read gets the sum of what it missed.
      if (!stream.isCongested) this.#send(stream, { cluster_stats: this.#clusterStats() });
      this.#arm();
    } catch (error) {
      if (stream === this.#link.current) this.#lost(errorText(error));
    }
  }

  #clusterStats(): JsonObject[] {
    // Clusters come and go.
    this.#watch();
    const nowMs = this.#options.clock.monotonicMs();
    const messages: JsonObject[] = [];
    for (const cluster of this.#wantedClusters()) {
      const watched = this.#watched.get(cluster.name);
      if (watched === undefined) continue;
      const { discovery } = cluster.resolved;
      const localities = watched.loads.take(
        cluster,
        this.#wanted?.report_endpoint_granularity ?? false,
      );
      messages.push({
        cluster_name: cluster.name,
        ...(discovery?.kind === 'endpoints' && discovery.serviceName !== cluster.name
          ? { cluster_service_name: discovery.serviceName }
          : {}),
        ...(localities.length === 0 ? {} : { upstream_locality_stats: localities }),
        load_report_interval: `${((nowMs - watched.sinceMs) / 1_000).toFixed(6)}s`,
      });
      watched.sinceMs = nowMs;
    }
    return messages;
  }

  #send(stream: GrpcStream, fields: JsonObject): void {
    stream.send(this.#options.messages.encode(fields));
    this.#count('responses');
  }

  #count(name: keyof typeof LOAD_REPORTER.index): void {
    this.#options.stats.add(this.#base + LOAD_REPORTER.index[name], 1);
  }
}
