/**
 * Chooses a host of a cluster for each request: what all policies implement, and what a choice may
 * depend on.
 */
import type { SubsetCriteria } from '../../stream/route.ts';
import type { Struct } from '../../../shared/text/dictionary.ts';
import type { NamespacedMetadata } from '../../matching/metadata-value.ts';
import type { Hash64 } from '../../hash/xxhash64.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { RequestHash } from '../../stream/route.ts';
import type { Address } from '../../net/connection-info.ts';
import { finish, type Steps } from '../../loop/sliced-work.ts';
import type { UpstreamHost } from '../hosts/host.ts';

/** What a choice may depend on. */
export interface BalanceContext {
  readonly requestHeaders: HeaderMap;
  /**
   * The hash of what the route's hash policies look at, undefined when there is none. `own` is the
   * balancer's, which comes before the route's.
   */
  computeHash(own?: RequestHash): Hash64 | undefined;
  /** What a host has to have in its `envoy.lb` metadata, where the cluster has subsets. */
  readonly subset?: SubsetCriteria | undefined;
  /** The priority is decided, by the code that chose this cluster among several. */
  readonly priority?: { readonly priority: number; readonly isDegraded: boolean } | undefined;
  /** The host of this id is taken where it can be; `isStrict`: no other one is. */
  readonly overrideHost?: { readonly address: string; readonly isStrict: boolean } | undefined;
  /** Where the client meant to connect to, as far as something else than its socket says so. */
  readonly originalDestination?: Address | undefined;
  /** Priorities that were tried before and are left out while others can take the request. */
  readonly excludedPriorities?: ReadonlySet<number> | undefined;
  /** Without those none can take the request: they are excluded no more. */
  noPriorityLeft?(): void;
  /** What a TLS client called the server; absent of requests, which have an authority. */
  readonly serverName?: string | undefined;
  /** What filters keep under a key for those behind them; see filterStateOf. */
  filterState?(key: string): string | undefined;
  /** What filters said of the request or its connection. */
  readonly dynamicMetadata?: NamespacedMetadata | undefined;
  /** Adds to what filters said; absent where nobody could read it. */
  addMetadata?(namespace: string, value: Struct): void;
  /** How many further hosts may be drawn where one is refused. */
  readonly maxHostDraws: number;
  /** Whether the request would rather go to another host. */
  refusesHost(host: UpstreamHost): boolean;
}

export interface LoadBalancer {
  /**
   * The host for the next request, undefined when there is none. `draw` counts from 0 the choices
   * made for the same try: one that hashes gives another host for each.
   */
  choose(context: BalanceContext, draw: number): UpstreamHost | undefined;
  /**
   * The host set changed, or a host's health did; the factor is in percent, 140 by default. Gets
   * ready for it while choices are made as before; what it returns puts it in force.
   */
  prepare(hosts: readonly UpstreamHost[], overprovisioningFactor: number): Steps<() => void>;
  /** The last choice was made over all hosts of its priority, since too few are usable. */
  readonly isPanicking: boolean;
  /** Once, when the cluster is gone. */
  release?(): void;
}

/** Chooses among the hosts that it was made for. */
export interface HostPicker {
  /** Undefined when there are none. */
  pick(): UpstreamHost | undefined;
}

/**
 * Makes what chooses among some hosts; `peers` are all of their priority. `source` names what hosts
 * these are of the cluster's: turns among them go on when they become others.
 */
export type MakePicker = (
  hosts: readonly UpstreamHost[],
  peers: readonly UpstreamHost[],
  source: string,
) => HostPicker;

/** The preparation of a balancer that looks at hosts with each choice: none. */
export function* nothingToPrepare(): Steps<() => void> {
  yield;
  return () => undefined;
}

/** All at once, however many hosts there are. */
export function updateBalancer(
  balancer: LoadBalancer,
  hosts: readonly UpstreamHost[],
  overprovisioningFactor: number,
): void {
  finish(balancer.prepare(hosts, overprovisioningFactor))();
}
