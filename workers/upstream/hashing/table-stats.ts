/** How many places of a table of hashes each host gets, which follows from the weights alone. */
import type { LazyTable } from '../../../shared/resources/clusters/lazy-clusters.ts';
import type { RingHashOptions } from '../../../shared/resources/clusters/lb-policy.ts';
import { countTurns } from './maglev-turns.ts';
import { finish, ITEMS_PER_STEP, type Steps } from '../../loop/sliced-work.ts';

/** What the cluster's statistics say of a table. */
export interface TableStats {
  readonly size: number;
  readonly minPerHost: number;
  readonly maxPerHost: number;
}

type RingSizes = Pick<RingHashOptions, 'minRingSize' | 'maxRingSize'>;

interface RingShares {
  readonly figures: TableStats;
  /** All of them together. */
  readonly places: number;
  readonly shares: readonly number[];
}

/** The weights are shares of the whole; so are the results, in places. */
export function* ringShares(
  weights: readonly number[],
  { minRingSize, maxRingSize }: RingSizes,
): Steps<RingShares> {
  const least = weights.reduce((min, weight) => Math.min(min, weight), 1);
  const scale = Math.min(Math.ceil(least * minRingSize) / least, maxRingSize);
  const shares: number[] = [];
  let [placed, target] = [0, 0];
  for (const weight of weights) {
    target += scale * weight;
    const share = Math.max(0, Math.ceil(target) - placed);
    placed += share;
    if (shares.push(share) % ITEMS_PER_STEP === 0) yield;
  }
  // Sums of fractions may end a place further than the statistics say.
  return { figures: figuresOf(Math.ceil(scale), shares), places: placed, shares };
}

/** The weights are shares of the whole. */
export function* maglevStats(weights: ArrayLike<number>, tableSize: number): Steps<TableStats> {
  const hosts = weights.length;
  // A single host needs no table, and Envoy says so.
  if (hosts === 1) return { size: tableSize, minPerHost: 1, maxPerHost: 1 };
  if (isEven(weights)) {
    const [least, rest] = hosts === 0 ? [0, 0] : [Math.floor(tableSize / hosts), tableSize % hosts];
    const figures = { size: tableSize, minPerHost: least, maxPerHost: least + (rest > 0 ? 1 : 0) };
    return hosts === 0 ? { ...figures, minPerHost: tableSize } : figures;
  }
  return figuresOf(tableSize, yield* countTurns(weights, tableSize));
}

function isEven(weights: ArrayLike<number>): boolean {
  for (let at = 1; at < weights.length; at++) if (weights[at] !== weights[0]) return false;
  return true;
}

/** Stats of a table for so many hosts of one weight, whichever they are. */
export function evenStats({ sizes, hosts }: LazyTable): TableStats {
  const weights = Array.from({ length: hosts }, () => 1 / hosts);
  return typeof sizes === 'number'
    ? finish(maglevStats(weights, sizes))
    : finish(ringShares(weights, sizes)).figures;
}

function figuresOf(size: number, perHost: ArrayLike<number> & Iterable<number>): TableStats {
  let [minPerHost, maxPerHost] = [size, 0];
  for (const count of perHost) {
    minPerHost = Math.min(minPerHost, count);
    maxPerHost = Math.max(maxPerHost, count);
  }
  return { size, minPerHost, maxPerHost };
}
