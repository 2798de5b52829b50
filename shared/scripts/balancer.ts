/** What a module that is a load balancer sees. */
import type { Headers, ModuleContext } from './context.ts';
import type { StandardSchema } from './schema.ts';

/** One host of the cluster. The same object stands for it as long as the cluster lists it. */
export interface BalancedHost {
  /** `address:port`, or a socket's path. */
  readonly address: string;
  /** Empty: the host has no name of its own. */
  readonly hostname: string;
  /** At least 1. */
  readonly weight: number;
  /** 0 comes first. */
  readonly priority: number;
  readonly health: 'healthy' | 'degraded' | 'unhealthy';
  readonly locality: { readonly region: string; readonly zone: string; readonly subZone: string };
  readonly isCanary: boolean;
  /** Requests that this worker has open there. */
  readonly activeRequests: number;
  /** The host's metadata, by namespace. */
  metadata(namespace: string): unknown;
}

/** The request, or the connection of TCP, that a host is chosen for. */
export interface BalancedRequest {
  /** Empty for TCP, as path and authority are. */
  readonly method: string;
  readonly path: string;
  readonly authority: string;
  readonly headers: Pick<Headers, 'get' | 'getAll' | 'has'> &
    Iterable<readonly [name: string, value: string]>;
  /** What a TLS client of TCP called the server; empty for requests. */
  readonly serverName: string;
  /** Counts from 0 the choices for the same attempt: the one before was refused. */
  readonly draw: number;
  /** True for a host that a retry would rather not ask again. */
  refuses(host: BalancedHost): boolean;
  getMetadata(namespace: string, key: string): unknown;
  getFilterState(key: string): string | undefined;
}

export interface BalancerHandlers {
  /** The hosts are others, or their health is. Called before the first `pick`, too. */
  onHosts?(hosts: readonly BalancedHost[]): void;
  /**
   * One of `hosts`, which are those that are not unhealthy. Undefined: the fallback policy chooses.
   */
  pick(request: BalancedRequest, hosts: readonly BalancedHost[]): BalancedHost | undefined;
}

export interface BalancerDefinition<Settings = unknown> {
  /** Checks the settings when the configuration is loaded. Absent: there are none. */
  readonly schema?: StandardSchema<Settings>;
  /** Called once in each worker for each cluster that names the module. */
  create(settings: Settings, context: ModuleContext): BalancerHandlers | Promise<BalancerHandlers>;
}

const DEFINED = Symbol.for('sluice.balancer');

/** Marks what a module exports as its default. */
export function defineBalancer<Settings = unknown>(
  definition: BalancerDefinition<Settings>,
): BalancerDefinition<Settings> {
  return Object.assign({ ...definition }, { [DEFINED]: true });
}

export function isBalancer(value: object): value is BalancerDefinition {
  return DEFINED in value;
}
