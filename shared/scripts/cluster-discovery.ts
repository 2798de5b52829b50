/** What a module that finds the hosts of clusters sees. */
import type { Logger } from './context.ts';
import type { StandardSchema } from './schema.ts';

/** One host of a list. */
export interface DiscoveredHost {
  /** An IP address, or the path of a socket. Names are not looked up. */
  readonly address: string;
  /** Needed beside an IP address. */
  readonly port?: number;
  /** For health checks and rewrites of the authority. */
  readonly hostname?: string;
  /** At least 1, which is the default. */
  readonly weight?: number;
  /** 0, the default, comes first. */
  readonly priority?: number;
  /** What the source says of it; checks of the cluster come on top. Default: healthy. */
  readonly health?: 'healthy' | 'degraded' | 'unhealthy' | 'draining';
  readonly locality?: {
    readonly region?: string;
    readonly zone?: string;
    readonly subZone?: string;
  };
  /** By namespace; subsets read `envoy.lb`. */
  readonly metadata?: Readonly<Record<string, object>>;
}

export interface DiscoveryContext {
  /** The name of the cluster. */
  readonly cluster: string;
  /** At most 100 lines a minute. */
  readonly log: Logger;
  /** Aborted when the cluster is gone. */
  readonly signal: AbortSignal;
  /** Resolves after so many milliseconds; rejects when the cluster is gone. */
  wait(ms: number): Promise<void>;
}

export interface ClusterDiscoveryDefinition<Settings = unknown> {
  /** Checks the settings when the configuration is loaded. Absent: there are none. */
  readonly schema?: StandardSchema<Settings>;
  /**
   * Yields all hosts of the cluster, again whenever they are others. The next list is asked for when
   * the one before it is in use. Called again after a failure.
   */
  discover(
    settings: Settings,
    context: DiscoveryContext,
  ): AsyncIterable<readonly DiscoveredHost[]> | Iterable<readonly DiscoveredHost[]>;
}

const DEFINED = Symbol.for('sluice.cluster_discovery');

/** Marks what a module exports as its default. */
export function defineClusterDiscovery<Settings = unknown>(
  definition: ClusterDiscoveryDefinition<Settings>,
): ClusterDiscoveryDefinition<Settings> {
  return Object.assign({ ...definition }, { [DEFINED]: true });
}

export function isClusterDiscovery(value: object): value is ClusterDiscoveryDefinition {
  return DEFINED in value;
}
