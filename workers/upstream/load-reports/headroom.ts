/**
 * How requests are shared among localities by what is left of their hosts' capacity: the server's
 * own takes all while it is hardly busier than the others, which are asked now and then to hear how
 * busy they are. Numbers alone; knows no hosts. Source: the API's load_aware_locality policy.
 */

/** One locality as it is now. */
export interface LocalityLoad {
  /** That of this server. */
  readonly isOwn: boolean;
  readonly hosts: number;
  /** How much of its hosts is in use; above 1: too much. */
  readonly utilization: number;
  /** Its hosts reported once and do so no more. */
  readonly isStale: boolean;
}

export interface HeadroomOptions {
  /** The own locality may be so much busier than the others before it hands requests on. */
  readonly varianceThreshold: number;
  /** Share of requests that goes to other localities at least; below 1. */
  readonly probeFraction: number;
}

export interface LocalityShares {
  /** In the order of the localities; not all 0 where there is a host. */
  readonly weights: readonly number[];
  /** No locality has anything left. */
  readonly isOverloaded: boolean;
  readonly prefersOwn: boolean;
  readonly probes: boolean;
  /** The own locality is too busy to keep its requests. */
  readonly spills: boolean;
}

const NOTHING = { isOverloaded: false, prefersOwn: false, probes: false, spills: false };

export function shareByHeadroom(
  loads: readonly LocalityLoad[],
  { varianceThreshold, probeFraction }: HeadroomOptions,
): LocalityShares {
  const weights = loads.map(({ hosts, utilization, isStale }) =>
    isStale ? hosts : hosts * Math.max(0, 1 - utilization),
  );
  const total = sum(weights);
  if (total === 0) {
    const hosts = loads.map((each) => each.hosts);
    return { ...NOTHING, weights: hosts, isOverloaded: sum(hosts) > 0 };
  }
  const own = loads.findIndex(({ isOwn }) => isOwn);
  const others = loads.filter(({ isOwn }) => !isOwn);
  const otherHosts = sum(others.map(({ hosts }) => hosts));
  const load = loads[own];
  if (load === undefined || otherHosts === 0) return { ...NOTHING, weights };
  const average = sum(others.map(({ utilization, hosts }) => utilization * hosts)) / otherHosts;
  const prefersOwn = load.hosts > 0 && load.utilization <= average + varianceThreshold;
  const adjusted = prefersOwn ? loads.map(({ isOwn }) => (isOwn ? total : 0)) : weights;
  const ownWeight = adjusted[own] ?? 0;
  const lacking = Math.min(ownWeight, probeFraction * total - (total - ownWeight));
  const probes = lacking > 0;
  return {
    weights: probes
      ? adjusted.map((weight, at) =>
          at === own ? weight - lacking : weight + (lacking * (loads[at]?.hosts ?? 0)) / otherHosts,
        )
      : adjusted,
    isOverloaded: false,
    prefersOwn,
    probes,
    spills: load.hosts > 0 && !prefersOwn,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
