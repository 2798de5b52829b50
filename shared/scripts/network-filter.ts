/** What a module that is a network filter sees. */
import type { Connection, ModuleContext } from './context.ts';
import type { StandardSchema } from './schema.ts';

/** A client's connection, before its bytes are passed on. */
export interface FilteredConnection extends Connection {
  getMetadata(namespace: string, key: string): unknown;
  /** Filters behind this one, the requests of the connection and its log see it. */
  setMetadata(namespace: string, key: string, value: unknown): void;
  getFilterState(key: string): string | undefined;
  /** `envoy.tcp_proxy.cluster` names the cluster of a TCP proxy behind it. */
  setFilterState(key: string, value: string): void;
  /** What access logs print as `%CONNECTION_TERMINATION_DETAILS%` when it is refused. */
  setDetails(details: string): void;
}

/** False closes the connection; anything else lets it go on. */
export type ConnectionVerdict = boolean | void;

export interface NetworkFilterHandlers {
  /** The connection is there, and nothing was read of it. */
  onConnection?(connection: FilteredConnection): ConnectionVerdict | Promise<ConnectionVerdict>;
  /** Its first bytes are there, or the client's end; after a TLS handshake. */
  onFirstBytes?(connection: FilteredConnection): ConnectionVerdict | Promise<ConnectionVerdict>;
}

export interface NetworkFilterDefinition<Settings = unknown> {
  /** Checks the settings when the configuration is loaded. Absent: there are none. */
  readonly schema?: StandardSchema<Settings>;
  /** Called once in each worker for each filter chain that names the module. */
  create(
    settings: Settings,
    context: ModuleContext,
  ): NetworkFilterHandlers | Promise<NetworkFilterHandlers>;
}

const DEFINED = Symbol.for('sluice.network_filter');

/** Marks what a module exports as its default. */
export function defineNetworkFilter<Settings = unknown>(
  definition: NetworkFilterDefinition<Settings>,
): NetworkFilterDefinition<Settings> {
  return Object.assign({ ...definition }, { [DEFINED]: true });
}

export function isNetworkFilter(value: object): value is NetworkFilterDefinition {
  return DEFINED in value;
}
