/**
 * How a cluster's hosts are chosen, as workers receive it.
 * Source: envoy.config.cluster.v3.Cluster and envoy.extensions.load_balancing_policies.
 */

import type { Struct } from '../../text/dictionary.ts';
import type { HashPolicy, MetadataKey } from '../routes/route.ts';

export interface LbPolicy {
  readonly kind:
    | 'ROUND_ROBIN'
    | 'LEAST_REQUEST'
    | 'RANDOM'
    | 'RING_HASH'
    | 'MAGLEV'
    | 'CLUSTER_PROVIDED';
  /** Percent below which all hosts are used; 50 by default. */
  readonly healthyPanicThreshold: number;
  /** Below that threshold requests are refused. */
  readonly failsInPanic?: true;
  /** Localities take load by their weights. */
  readonly weighsLocalities?: boolean;
  /** Hosts of the server's own locality are preferred; needs a local cluster. */
  readonly zoneAware?: ZoneAwareOptions;
  /** Of ROUND_ROBIN and LEAST_REQUEST. */
  readonly slowStart?: SlowStartOptions;
  /** Of ROUND_ROBIN alone: weights follow from what hosts report of their load. */
  readonly loadReports?: LoadReportOptions;
  /** Localities take requests by what is left of their hosts' capacity. */
  readonly localityLoads?: LocalityLoadOptions;
  /** Of LEAST_REQUEST alone. */
  readonly leastRequest?: LeastRequestOptions;
  /** Of RING_HASH alone. */
  readonly ringHash?: RingHashOptions;
  /** Of MAGLEV alone. */
  readonly maglev?: MaglevOptions;
  /**
   * Of policies that hash: percent of its fair share that a host may be busy with; at least 100.
   */
  readonly hashBalanceFactor?: number;
  /** Of policies that hash: what they hash, in the place of the route's policies. */
  readonly hashPolicies?: readonly HashPolicy[];
  readonly subsets?: SubsetOptions;
  /** Requests may name the hosts to take. */
  readonly override?: OverrideOptions;
  /**
   * A host that a filter names is taken while it is one of these; absent: while it is not
   * unhealthy.
   */
  readonly namedHostStatuses?: readonly NamedHostStatus[];
}

/** Where a request names hosts, parted by commas; `name` is in lower case. */
export type HostNamer =
  | { readonly kind: 'header'; readonly name: string }
  | ({ readonly kind: 'metadata' } & MetadataKey);

export interface OverrideOptions {
  /** One after the other. */
  readonly sources: readonly HostNamer[];
  /** Where in a request's metadata the host is told that was taken. */
  readonly tells?: MetadataKey;
}

/** A host without a status is healthy. */
export type NamedHostStatus = 'HEALTHY' | 'UNHEALTHY' | 'DRAINING' | 'TIMEOUT' | 'DEGRADED';

export interface ZoneAwareOptions {
  /** Percent of the requests that are to stay in their zone where they can. */
  readonly routingEnabled: number;
  readonly minClusterSize: number;
  /**
   * Requests stay in their zone while it has so many usable hosts, whatever its share of the
   * servers.
   */
  readonly forceLocalZoneMinSize?: number;
  /** Shares of localities go by the weights of their hosts, not by how many these are. */
  readonly countsWeights?: true;
}

/** Source: envoy.extensions.load_balancing_policies.client_side_weighted_round_robin.v3. */
export interface LoadReportOptions {
  /** A host has to report for so long before its weight counts. */
  readonly blackoutMs: number;
  /** A weight that old counts no more. */
  readonly expirationMs: number;
  readonly updateMs: number;
  /**
   * Of a report, what says how much of the host is in use, before its general figures; see
   * load-report.ts.
   */
  readonly metricNames: readonly string[];
  /** What the share of errors adds to a host's utilization is multiplied by it. */
  readonly errorPenalty: number;
}

/** Source: envoy.extensions.load_balancing_policies.load_aware_locality.v3. */
export interface LocalityLoadOptions {
  readonly updateMs: number;
  /** After so long a change has had about two thirds of its effect. */
  readonly smoothingMs: number;
  /** What a host reported so long ago counts no more; 0: for ever. */
  readonly expirationMs: number;
  /** As in `LoadReportOptions`. */
  readonly metricNames: readonly string[];
  /** See headroom.ts. */
  readonly varianceThreshold: number;
  readonly probeFraction: number;
}

export interface SlowStartOptions {
  readonly windowMs: number;
  /** 1: the share grows with time alone; above 1 it grows faster at the beginning. */
  readonly aggression: number;
  readonly aggressionKey?: string;
  /** Percent of its weight that a host begins with. */
  readonly minWeightPercent: number;
}

export interface RingHashOptions {
  readonly minRingSize: number;
  readonly maxRingSize: number;
  readonly hashFunction: 'XX_HASH' | 'MURMUR_HASH_2';
  /** Hosts are known on the ring by their names, not their addresses. */
  readonly usesHostname: boolean;
}

interface MaglevOptions {
  /** A prime number. */
  readonly tableSize: number;
  /** As for rings. */
  readonly usesHostname: boolean;
}

export interface LeastRequestOptions {
  /** How many hosts are drawn; 2 by default. */
  readonly choiceCount: number;
  /** How much a busy host is avoided where weights differ; 1 by default, 0: not at all. */
  readonly activeRequestBias: number;
  /** In the runtime; looked at when hosts change. */
  readonly activeRequestBiasKey?: string;
  /** All hosts are looked at, not only some that are drawn. */
  readonly scansAll?: true;
}

export interface SubsetOptions {
  readonly fallback: 'NO_FALLBACK' | 'ANY_ENDPOINT' | 'DEFAULT_SUBSET';
  /** What the hosts of the default subset have in their `envoy.lb` metadata. */
  readonly defaultSubset: Struct;
  readonly selectors: readonly SubsetSelector[];
  /** A request may name more keys than a selector has. */
  readonly allowsRedundantKeys: boolean;
  readonly weighsLocalities: boolean;
  /** A locality counts as much as the share of its hosts that are in the subset. */
  readonly scalesLocalityWeight: boolean;
  /** Where the fallback finds no host, any host is taken. */
  readonly panicsToAny: boolean;
  /** A host with a list is in the subset of each of its values. */
  readonly listsAsAny: boolean;
  /** `fallback_list` in a request's metadata names what to try one after the other. */
  readonly triesFallbackList: boolean;
}

export interface SubsetSelector {
  /** Sorted, without repetitions. */
  readonly keys: readonly string[];
  readonly isSingleHost: boolean;
  /** Undefined: that of the cluster. */
  readonly fallback?: 'NO_FALLBACK' | 'ANY_ENDPOINT' | 'DEFAULT_SUBSET' | 'KEYS_SUBSET';
  readonly fallbackKeys: readonly string[];
}

export const RING_DEFAULTS: RingHashOptions = {
  minRingSize: 1024,
  maxRingSize: 8 * 1024 * 1024,
  hashFunction: 'XX_HASH',
  usesHostname: false,
};

export const MAGLEV_DEFAULTS: MaglevOptions = { tableSize: 65_537, usesHostname: false };
