/**
 * A table of hashes in which no host takes much more than its share: where the one that the hash
 * leads to is too busy, others are tried in an order that the hash decides, so that the same
 * request meets the same ones again. Busy is what this worker has sent and not seen answered.
 */
import type { Hash64 } from '../../hash/xxhash64.ts';
import { MersenneTwister } from '../../hash/mersenne-twister.ts';
import type { HashTable } from './table-plan.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { WeighedHost } from '../hosts/host-weights.ts';

export interface BoundedTableParts {
  /** In percent. */
  readonly balanceFactor: number;
  readonly activeRequests: (host: UpstreamHost) => number;
  /** The active requests of the whole cluster. */
  readonly allActiveRequests: () => number;
}

export class BoundedTable implements HashTable {
  readonly #table: HashTable;
  readonly #hosts: readonly WeighedHost[];
  readonly #weights: ReadonlyMap<UpstreamHost, number>;
  readonly #parts: BoundedTableParts;

  constructor(table: HashTable, hosts: readonly WeighedHost[], parts: BoundedTableParts) {
    this.#table = table;
    this.#hosts = hosts;
    this.#weights = new Map(hosts.map(({ host, weight }) => [host, weight]));
    this.#parts = parts;
  }

  choose(hash: Hash64, draw: number): UpstreamHost | undefined {
    const host = this.#table.choose(hash, draw);
    if (host === undefined) return undefined;
    const load = this.#loadOf(host, this.#weights.get(host) ?? 0);
    return load <= 1 ? host : this.#chooseOther(host, load, hash);
  }

  /** The first that is not too busy, else the least busy of all. */
  #chooseOther(first: UpstreamHost, firstLoad: number, hash: Hash64): UpstreamHost {
    const random = new MersenneTwister(hash.low);
    const order = [...this.#hosts];
    let best = first;
    let least = firstLoad;
    for (let at = 0; at < order.length; at++) {
      const other = at + random.below(order.length - at);
      const entry = order[other];
      const moved = order[at];
      if (entry === undefined || moved === undefined) break;
      order[other] = moved;
      if (entry.host === first) continue;
      const load = this.#loadOf(entry.host, entry.weight);
      if (load <= 1) return entry.host;
      if (load >= least) continue;
      least = load;
      best = entry.host;
    }
    return best;
  }

  /** Above 1: busier than it may be. */
  #loadOf(host: UpstreamHost, weight: number): number {
    const { balanceFactor, activeRequests, allActiveRequests } = this.#parts;
    const slots = Math.floor(((allActiveRequests() + 1) * balanceFactor + 99) / 100);
    return activeRequests(host) / Math.max(Math.ceil(slots * weight), 1);
  }
}
