/**
 * How a cluster's hosts are chosen, as workers receive it: the API's tree of policies, in which one
 * that holds another has it as its `child`.
 * Source: envoy.config.cluster.v3.Cluster and envoy.extensions.load_balancing_policies.
 */

import type { Struct } from '../../text/dictionary.ts';
import type { OfKind } from '../by-kind.ts';
import type { ScriptModule } from '../../scripts/script-module.ts';
import type { HashPolicy, MetadataKey } from '../routes/route.ts';
import type { SubsetOptions } from './subset-policy.ts';
import type { AggregatePolicy, ForwardProxyPolicy, OriginalDstPolicy } from './provided-policy.ts';

/** Policies that choose among hosts whatever the request is. */
export type PickingPolicy =
  | RoundRobinPolicy
  | WeightedRoundRobinPolicy
  | LeastRequestPolicy
  | RandomPolicy;

/** Policies that choose by a hash of the request. */
export type HashingPolicy = RingHashPolicy | MaglevPolicy;

/** Policies that may stand anywhere in a tree. */
export type NestedPolicy =
  | PickingPolicy
  | HashingPolicy
  | LoadAwareLocalityPolicy
  | SubsetPolicy
  | OverrideHostPolicy;

/** A cluster that brings its own balancer has one of these. */
export type ProvidedPolicy = AggregatePolicy | OriginalDstPolicy | ForwardProxyPolicy;

export type LbPolicy = NestedPolicy | ScriptPolicy | ProvidedPolicy;

/** What the place of hosts counts. */
export type LocalityChoice =
  | WeightedLocalities
  /** Hosts of the server's own locality are preferred; needs a local cluster. */
  | {
      readonly kind: 'zone_aware';
      readonly options: ZoneAwareOptions;
      /** Below the panic threshold requests are refused. */
      readonly failsInPanic?: true;
    };

/** Localities take load by their weights. */
interface WeightedLocalities {
  readonly kind: 'weighted';
}

export interface RoundRobinPolicy {
  readonly kind: 'round_robin';
  readonly localities?: LocalityChoice;
  readonly slowStart?: SlowStartOptions;
}

/** Weights follow from what hosts report of their load. */
export interface WeightedRoundRobinPolicy {
  readonly kind: 'client_side_weighted_round_robin';
  readonly localities?: WeightedLocalities;
  readonly slowStart?: SlowStartOptions;
  readonly loadReports: LoadReportOptions;
}

export interface LeastRequestPolicy {
  readonly kind: 'least_request';
  readonly localities?: LocalityChoice;
  readonly slowStart?: SlowStartOptions;
  readonly options?: LeastRequestOptions;
}

export interface RandomPolicy {
  readonly kind: 'random';
  readonly localities?: LocalityChoice;
}

/** What all policies that hash have. */
interface HashingOptions {
  readonly localities?: WeightedLocalities;
  /** Percent of its fair share that a host may be busy with; at least 100. */
  readonly balanceFactor?: number;
  /** What is hashed, in the place of the route's policies. */
  readonly hashPolicies?: readonly HashPolicy[];
}

export interface RingHashPolicy extends HashingOptions {
  readonly kind: 'ring_hash';
  readonly options?: RingHashOptions;
}

export interface MaglevPolicy extends HashingOptions {
  readonly kind: 'maglev';
  readonly options?: MaglevOptions;
}

/** Localities take requests by what is left of their hosts' capacity. */
export interface LoadAwareLocalityPolicy {
  readonly kind: 'load_aware_locality';
  readonly options: LocalityLoadOptions;
  readonly child: PickingPolicy;
}

/** Requests name what their host has in its metadata. */
interface SubsetPolicy {
  readonly kind: 'subset';
  readonly options: SubsetOptions;
  readonly child: NestedPolicy;
}

/** Requests may name the hosts to take; else the child chooses. */
interface OverrideHostPolicy {
  readonly kind: 'override_host';
  readonly options: OverrideOptions;
  readonly child: NestedPolicy;
}

/** A module of the operator's own chooses; else the child does. It stands outermost. */
export interface ScriptPolicy {
  readonly kind: 'script';
  readonly module: ScriptModule;
  /** JSON, which the module's schema reads. */
  readonly settings: string;
  readonly loopTimeoutMs: number;
  readonly loadTimeoutMs: number;
  readonly child: NestedPolicy;
}

/** The outermost policy of that kind, if there is one. */
export function findPolicy<Kind extends LbPolicy['kind']>(
  root: LbPolicy,
  kind: Kind,
): OfKind<LbPolicy, Kind> | undefined {
  for (let policy: LbPolicy | undefined = root; policy !== undefined; policy = childOf(policy)) {
    if (isKind(policy, kind)) return policy;
  }
  return undefined;
}

/** The policy that chooses hosts in the end. */
export function innermostPolicy(root: LbPolicy): PickingPolicy | HashingPolicy | ProvidedPolicy {
  let policy = root;
  while ('child' in policy) policy = policy.child;
  return policy;
}

/** New hosts get their share little by little. */
export function hasSlowStart(root: LbPolicy): boolean {
  const policy = innermostPolicy(root);
  return 'slowStart' in policy && policy.slowStart !== undefined;
}

const FORESEEABLE: ReadonlySet<string> = new Set<PickingPolicy['kind']>([
  'round_robin',
  'client_side_weighted_round_robin',
  'random',
]);

/** The hosts of the next requests are known before these are there. */
export function isForeseeable(root: LbPolicy): boolean {
  return (
    FORESEEABLE.has(innermostPolicy(root).kind) &&
    findPolicy(root, 'subset') === undefined &&
    findPolicy(root, 'script') === undefined
  );
}

function childOf(policy: LbPolicy): LbPolicy | undefined {
  return 'child' in policy ? policy.child : undefined;
}

function isKind<Kind extends LbPolicy['kind']>(
  policy: LbPolicy,
  kind: Kind,
): policy is OfKind<LbPolicy, Kind> {
  return policy.kind === kind;
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
   * The names in a load report that say how much of the host is in use, before its general figures;
   * see load-report.ts.
   */
  readonly metricNames: readonly string[];
  /** What the share of errors adds to a host's utilization is multiplied by it. */
  readonly errorPenalty: number;
  /** Hosts are asked for reports over streams; absent: reports come with responses. */
  readonly oob?: OobReportOptions;
}

export interface OobReportOptions {
  readonly periodMs: number;
  /** Absent: the host's own. */
  readonly port?: number;
  /** Empty: the host's address. */
  readonly authority: string;
  /** Chooses the transport socket; absent: the host's own. */
  readonly socketCriteria?: Struct;
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

export interface MaglevOptions {
  /** A prime number. */
  readonly tableSize: number;
  /** As for rings. */
  readonly usesHostname: boolean;
}

export interface LeastRequestOptions {
  /** How many hosts are drawn. */
  readonly choiceCount: number;
  /** How much a busy host is avoided where weights differ; 0: not at all. */
  readonly activeRequestBias: number;
  /** In the runtime; looked at when hosts change. */
  readonly activeRequestBiasKey?: string;
  /** All hosts are looked at, not only some that are drawn. */
  readonly scansAll?: true;
}

export const RING_DEFAULTS: RingHashOptions = {
  minRingSize: 1024,
  maxRingSize: 8 * 1024 * 1024,
  hashFunction: 'XX_HASH',
  usesHostname: false,
};

export const LEAST_REQUEST_DEFAULTS: LeastRequestOptions = { choiceCount: 2, activeRequestBias: 1 };

export const MAGLEV_DEFAULTS: MaglevOptions = { tableSize: 65_537, usesHostname: false };
