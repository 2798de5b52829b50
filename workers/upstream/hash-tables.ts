/**
 * The two tables of consistent hashing, filled exactly as the reference fills them, so that the same
 * hash leads to the same host behind both: a ring of hashes, and Maglev's table.
 */
import type { RingHashOptions } from '../../shared/resources/lb-policy.ts';
import { murmurHash2 } from '../hash/murmur-hash2.ts';
import { type Hash64, xxHash64 } from '../hash/xxhash64.ts';
import type { UpstreamHost } from './host.ts';
import type { WeighedHost } from './host-weights.ts';

export interface HashTable {
  /** `draw` counts the choices made for one try; each gives another place of the table. */
  choose(hash: Hash64, draw: number): UpstreamHost | undefined;
  /** What the cluster's statistics say of the table. */
  readonly size: number;
  readonly minPerHost: number;
  readonly maxPerHost: number;
}

/** A host's own text on the ring: `envoy.lb`'s `hash_key`, its name where asked for, its address. */
function hashKey(host: UpstreamHost, usesHostname: boolean): string {
  const given = host.metadata?.['envoy.lb']?.['hash_key'];
  if (typeof given === 'string' && given !== '') return given;
  return usesHostname ? host.hostname : host.id;
}

/** The weights are shares of the whole. */
export function buildRing(hosts: readonly WeighedHost[], options: RingHashOptions): HashTable {
  const least = hosts.reduce((min, { weight }) => Math.min(min, weight), 1);
  const scale = Math.min(Math.ceil(least * options.minRingSize) / least, options.maxRingSize);
  const hash = options.hashFunction === 'MURMUR_HASH_2' ? murmurHash2 : xxHash64;
  const places: { readonly hash: Hash64; readonly host: UpstreamHost }[] = [];
  let target = 0;
  let minPerHost = hosts.length === 0 ? 0 : Number.POSITIVE_INFINITY;
  let maxPerHost = 0;
  for (const { host, weight } of hosts) {
    const key = `${hashKey(host, options.usesHostname)}_`;
    target += scale * weight;
    let count = 0;
    while (places.length < target) places.push({ hash: hash(key + String(count++)), host });
    minPerHost = Math.min(minPerHost, count);
    maxPerHost = Math.max(maxPerHost, count);
  }
  places.sort((left, right) => compare(left.hash, right.hash));
  return new Ring(places, minPerHost, maxPerHost);
}

class Ring implements HashTable {
  readonly size: number;
  readonly minPerHost: number;
  readonly maxPerHost: number;
  readonly #high: Uint32Array;
  readonly #low: Uint32Array;
  readonly #hosts: readonly UpstreamHost[];

  constructor(
    places: readonly { readonly hash: Hash64; readonly host: UpstreamHost }[],
    minPerHost: number,
    maxPerHost: number,
  ) {
    this.size = places.length;
    this.minPerHost = minPerHost;
    this.maxPerHost = maxPerHost;
    this.#high = Uint32Array.from(places, ({ hash }) => hash.high);
    this.#low = Uint32Array.from(places, ({ hash }) => hash.low);
    this.#hosts = places.map(({ host }) => host);
  }

  /** The first place at or behind the hash, going round. */
  choose({ high, low }: Hash64, draw: number): UpstreamHost | undefined {
    if (this.size === 0) return undefined;
    let from = 0;
    let to = this.size;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const placeHigh = this.#high[middle] ?? 0;
      const isBefore = placeHigh < high || (placeHigh === high && (this.#low[middle] ?? 0) < low);
      if (isBefore) from = middle + 1;
      else to = middle;
    }
    return this.#hosts[((from === this.size ? 0 : from) + draw) % this.size];
  }
}

interface MaglevEntry {
  readonly host: UpstreamHost;
  readonly key: string;
  readonly weight: number;
  readonly offset: number;
  readonly skip: number;
  next: number;
  target: number;
  count: number;
}

/** The weights are shares of the whole. */
export function buildMaglev(
  hosts: readonly WeighedHost[],
  tableSize: number,
  usesHostname: boolean,
): HashTable {
  const most = hosts.reduce((max, { weight }) => Math.max(max, weight), 0);
  const entries = hosts.map(({ host, weight }): MaglevEntry => {
    const key = hashKey(host, usesHostname);
    return {
      host,
      key,
      weight,
      offset: remainder(xxHash64(key), tableSize),
      skip: remainder(xxHash64(key, 1), tableSize - 1) + 1,
      next: 0,
      target: 0,
      count: 0,
    };
  });
  // The order of filling decides who gets a contested place: it must not depend on the hosts' order.
  entries.sort((left, right) => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0));
  return new Maglev(fillMaglev(entries, tableSize, most), tableSize, entries);
}

/** Each entry takes its next free place in turn; a lighter one sits some turns out. */
function fillMaglev(
  entries: readonly MaglevEntry[],
  tableSize: number,
  most: number,
): readonly UpstreamHost[] {
  if (entries.length === 0) return [];
  const table = Array.from({ length: tableSize }, (): UpstreamHost | undefined => undefined);
  let filled = 0;
  for (let turn = 1; filled < tableSize; turn++) {
    for (const entry of entries) {
      if (filled === tableSize) break;
      if (turn * entry.weight < entry.target) continue;
      entry.target += most;
      let place = (entry.offset + entry.skip * entry.next) % tableSize;
      while (table[place] !== undefined) {
        entry.next++;
        place = (entry.offset + entry.skip * entry.next) % tableSize;
      }
      table[place] = entry.host;
      entry.next++;
      entry.count++;
      filled++;
    }
  }
  return table.filter((host) => host !== undefined);
}

class Maglev implements HashTable {
  readonly size: number;
  readonly minPerHost: number;
  readonly maxPerHost: number;
  readonly #table: readonly UpstreamHost[];

  constructor(
    table: readonly UpstreamHost[],
    size: number,
    entries: readonly { readonly count: number }[],
  ) {
    this.#table = table;
    this.size = size;
    // A single host needs no table, and the reference says so.
    const isSingle = entries.length === 1;
    this.minPerHost = isSingle ? 1 : entries.reduce((min, { count }) => Math.min(min, count), size);
    this.maxPerHost = isSingle ? 1 : entries.reduce((max, { count }) => Math.max(max, count), 0);
  }

  choose(hash: Hash64, draw: number): UpstreamHost | undefined {
    if (draw === 0) return this.#table[remainder(hash, this.size)];
    // The hash with the complement of a small number: far from where the first draw led.
    const flipped = { high: ~hash.high >>> 0, low: (hash.low ^ -draw) >>> 0 };
    return this.#table[remainder(flipped, this.size)];
  }
}

/** `divisor` is below 2^23, so that nothing here exceeds 2^53. */
function remainder({ high, low }: Hash64, divisor: number): number {
  return ((high % divisor) * (0x1_0000_0000 % divisor) + low) % divisor;
}

function compare(left: Hash64, right: Hash64): number {
  return left.high - right.high || left.low - right.low;
}
