/**
 * What every kind of resource needs to be taken from a control plane; each adds what it needs
 * beside.
 */
import type { Clock } from '../../../shared/process/clock.ts';
import type { ResourceUpdate } from '../../../shared/resources/resource-update.ts';
import type { LoopTurns } from '../../loop/loop-turns.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import type { StatStore } from '../../stats/stat-store.ts';
import type { DiscoverySources } from '../subscriptions/discovery-sources.ts';
import type { ClusterSwap } from './cluster-swap.ts';
import type { ResourceResolver } from './resource-resolver.ts';

/** A kind that is taken as a whole: all clusters, all listeners. */
export interface CollectionOptions {
  readonly store: ResourceStore;
  readonly resolver: ResourceResolver;
  readonly clock: Clock;
  readonly swap: ClusterSwap;
  /** In which long answers are taken. */
  readonly turns: LoopTurns;
  /** Called once: see `DiscoveryConsumer`. */
  settled(): void;
  readonly log: (level: 'debug' | 'info' | 'warning', text: string) => void;
}

/** A kind of which others name single resources, each of which opens a subscription of its own. */
export interface NamedOptions {
  readonly store: ResourceStore;
  readonly resolver: ResourceResolver;
  readonly sources: DiscoverySources;
  readonly statStore: StatStore;
  readonly clock: Clock;
  /** Resolves with what a worker refused. */
  apply(updates: readonly ResourceUpdate[]): Promise<readonly string[]>;
}
