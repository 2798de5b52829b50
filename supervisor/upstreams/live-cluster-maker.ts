/** Makes the live versions of clusters, with what all of them share. */
import type { NamedSecret } from '../resolved/named-secret.ts';
import type { NamedFilter, ResolvedCluster } from '../resolved/resolved-bootstrap.ts';
import { OutlierSlots } from '../health/outlier-slots.ts';
import type { ResourceUse } from '../store/resource-use.ts';
import type { BreakerSlots } from './breakers/breaker-slots.ts';
import { LiveCluster } from './live-cluster.ts';
import type { LiveClusterOptions } from './live-cluster-options.ts';
import { type MergeCounter, MergeWindow } from './merge-window.ts';
import {
  SourceMaker,
  type DiscoveredSources,
  type SourceMakerOptions,
} from './sources/source-maker.ts';

/** Unless a cluster says otherwise. */
const MERGE_WINDOW_MS = 1000;

/** What clusters need of control planes and files. */
export interface ClusterDependencies extends DiscoveredSources {
  readonly secrets: { use(secret: NamedSecret): ResourceUse };
  readonly filters: { use(filter: NamedFilter): ResourceUse };
  /** How many clusters wait until they may be used. */
  clustersWarming(count: number): void;
}

/** What all clusters share beside their sources. */
export type SharedClusterParts = Pick<
  LiveClusterOptions,
  'runtime' | 'eventLogs' | 'outlierLogPath' | 'orders'
>;

export interface LiveClusterMakerOptions extends SourceMakerOptions, SharedClusterParts {
  readonly outlierFd: number;
  readonly breakers: BreakerSlots;
  /** Hosts of a cluster that is in use changed. */
  readonly countUpdate: (counter: MergeCounter) => void;
}

/** How one version is followed. */
export type ClusterFollower = Pick<
  LiveClusterOptions,
  'hasTraffic' | 'isUsed' | 'changed' | 'prepare'
>;

export class LiveClusterMaker {
  readonly #options: LiveClusterMakerOptions;
  readonly #needs: ClusterDependencies;
  readonly #sources: SourceMaker;
  /** The version that was made last. */
  #version = 0;
  /** Mapped once a cluster watches for outliers. */
  #slots: OutlierSlots | undefined;

  constructor(options: LiveClusterMakerOptions, needs: ClusterDependencies) {
    this.#options = options;
    this.#needs = needs;
    this.#sources = new SourceMaker(options, needs);
  }

  make(resolved: ResolvedCluster, follower: ClusterFollower): LiveCluster {
    const { clock, writer, random, runtime, eventLogs, outlierLogPath, breakers } = this.#options;
    const { outlierFd, countUpdate, orders } = this.#options;
    const windowMs = resolved.mergeWindowMs ?? MERGE_WINDOW_MS;
    // One by one: there may be ten thousand of them, each with its options.
    return new LiveCluster({
      ...follower,
      writer,
      clock,
      random,
      runtime,
      eventLogs,
      outlierLogPath,
      breakers,
      orders,
      resolved,
      version: ++this.#version,
      slots: () => (this.#slots ??= new OutlierSlots(outlierFd)),
      needs: [
        ...resolved.secrets.map((secret) => this.#needs.secrets.use(secret)),
        ...(resolved.namedFilters ?? []).map((filter) => this.#needs.filters.use(filter)),
      ],
      makeSource: (sink) => this.#sources.make(resolved, sink),
      merges: new MergeWindow({ windowMs, clock, count: countUpdate }),
    });
  }

  /** So many versions wait until they may be used. */
  warming(count: number): void {
    this.#needs.clustersWarming(count);
  }

  close(): void {
    this.#sources.close();
  }
}
