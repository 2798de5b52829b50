/** What tables of hashes have in common, and how one is told of before it is built. */
import type { Hash64 } from '../../hash/byte-hash.ts';
import type { Steps } from '../../loop/sliced-work.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { TableStats } from './table-stats.ts';

export interface HashTable {
  /** `draw` counts the choices made for one try; each gives another place of the table. */
  choose(hash: Hash64, draw: number): UpstreamHost | undefined;
}

/** A table that can be built; its figures are known before. */
export interface TablePlan {
  readonly figures: TableStats;
  /** A few milliseconds: the first request may wait for it. */
  readonly isQuick: boolean;
  build(): Steps<HashTable>;
}

/** The number of hosts up to which tables are quick. */
export const QUICK_HOSTS = 500;

/** The places of a table, each a position in a list. */
export type Positions = Uint8Array | Uint16Array | Uint32Array;

/** As narrow as `count` different positions allow. */
export function positionsFor(count: number, places: number): Positions {
  if (count <= 0x100) return new Uint8Array(places);
  return count <= 0x1_0000 ? new Uint16Array(places) : new Uint32Array(places);
}

/**
 * A host's own text in a table: `envoy.lb`'s `hash_key`, its name where asked for, its address. One
 * character per byte.
 */
export function hashKey(host: UpstreamHost, usesHostname: boolean): string {
  const given = host.metadata?.['envoy.lb']?.['hash_key'];
  if (typeof given === 'string' && given !== '') return Buffer.from(given).toString('latin1');
  return usesHostname ? host.hostname : host.address;
}
