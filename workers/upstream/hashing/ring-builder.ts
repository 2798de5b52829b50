/**
 * Builds rings of hashes as Envoy fills them, so that the same hash leads to the same host behind
 * both. A ring for hosts that are mostly those of the ring before is made from that one: only what
 * comes and goes is hashed.
 */
import type { RingHashOptions } from '../../../shared/resources/clusters/lb-policy.ts';
import type { ByteHash, Hash64 } from '../../hash/byte-hash.ts';
import { MurmurHash2 } from '../../hash/murmur-hash2.ts';
import { XxHash64 } from '../../hash/xxhash64.ts';
import { ITEMS_PER_STEP, type Steps } from '../../loop/sliced-work.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { WeighedHost } from '../hosts/host-weights.ts';
import { NumberedKey } from './numbered-key.ts';
import { RingPlaces, sortPlaces } from './ring-places.ts';
import { ringShares } from './table-stats.ts';
import { hashKey, type HashTable, QUICK_HOSTS, type TablePlan } from './table-plan.ts';

/** Most of what a place costs is the hash that says where it lies. */
const QUICK_RING_PLACES = 4096;

/** A host of a ring and how many places it has there: those of the numbers below `share`. */
interface RingHost {
  readonly host: UpstreamHost;
  readonly key: string;
  readonly share: number;
}

/** Some places of one host by their numbers, and by which position it is known. */
interface Numbers {
  readonly key: string;
  readonly position: number;
  readonly from: number;
  readonly to: number;
}

/** What makes the next ring out of the one before. */
interface Difference {
  readonly added: readonly Numbers[];
  /** By the positions of the ring before. */
  readonly dropped: readonly Numbers[];
  /**
   * The new position of each host of the ring before; `GONE` for one that is not there any more.
   */
  readonly moved: Int32Array;
}

const GONE = -1;

export class RingBuilder {
  readonly #options: RingHashOptions;
  readonly #hash: ByteHash;
  #last: Ring | undefined;

  constructor(options: RingHashOptions) {
    this.#options = options;
    this.#hash = options.hashFunction === 'MURMUR_HASH_2' ? new MurmurHash2() : new XxHash64();
  }

  /** The weights are shares of the whole. */
  *plan(weighed: readonly WeighedHost[]): Steps<TablePlan> {
    const weights = weighed.map(({ weight }) => weight);
    const { figures, places, shares } = yield* ringShares(weights, this.#options);
    const hosts: RingHost[] = [];
    for (const { host } of weighed) {
      const key = hashKey(host, this.#options.usesHostname);
      const count = hosts.push({ host, key, share: shares[hosts.length] ?? 0 });
      if (count % ITEMS_PER_STEP === 0) yield;
    }
    return {
      figures,
      isQuick: hosts.length <= QUICK_HOSTS && figures.size <= QUICK_RING_PLACES,
      build: () => this.#build(hosts, places),
    };
  }

  *#build(hosts: readonly RingHost[], size: number): Steps<HashTable> {
    const last = this.#last;
    const difference = last && (yield* differenceOf(last.hosts, hosts));
    const places =
      last === undefined || difference === undefined || isMostlyOther(difference, size)
        ? yield* this.#placesOf(wholeOf(hosts), size, hosts.length)
        : yield* this.#change(last, difference, { size, hosts: hosts.length });
    const ring = new Ring(hosts, places);
    this.#last = ring;
    return ring;
  }

  *#placesOf(numbers: readonly Numbers[], size: number, hosts: number): Steps<RingPlaces> {
    const places = new RingPlaces(size, hosts);
    const hash = this.#hash;
    const { state } = hash;
    let place = 0;
    let looked = 0;
    for (const { key, position, from, to } of numbers) {
      const numbered = new NumberedKey(key, from);
      for (let at = from; at < to; at++) {
        hash.hash(numbered.bytes, numbered.length);
        numbered.increment();
        places.high[place] = state.high;
        places.low[place] = state.low;
        places.host[place] = position;
        place += 1;
        if (place % ITEMS_PER_STEP === 0) yield;
      }
      looked += 1;
      if (looked % ITEMS_PER_STEP === 0) yield;
    }
    yield* sortPlaces(places);
    return places;
  }

  /** The ring before without what is dropped, joined with what is added. */
  *#change(
    { places: before, hosts }: Ring,
    { added, dropped, moved }: Difference,
    next: { readonly size: number; readonly hosts: number },
  ): Steps<RingPlaces> {
    const extra = yield* this.#placesOf(added, countOf(added), next.hosts);
    const lost = yield* this.#placesOf(dropped, countOf(dropped), hosts.length);
    const places = new RingPlaces(next.size, next.hosts);
    let [to, extraAt, lostAt] = [0, 0, 0];
    for (let at = 0; at < before.size; at++) {
      if (at % JOINED_PER_STEP === 0) yield;
      const position = moved[before.host[at] as number] as number;
      if (position === GONE) continue;
      if (lostAt < lost.size && before.compare(at, lost, lostAt) === 0) {
        lostAt += 1;
        continue;
      }
      places.set(to, before, at, position);
      for (; extraAt < extra.size && extra.compare(extraAt, places, to) < 0; extraAt++) {
        places.set(to++, extra, extraAt, extra.host[extraAt] as number);
        places.set(to, before, at, position);
      }
      to += 1;
    }
    for (; extraAt < extra.size; extraAt++) {
      if (extraAt % JOINED_PER_STEP === 0) yield;
      places.set(to++, extra, extraAt, extra.host[extraAt] as number);
    }
    return places;
  }
}

const JOINED_PER_STEP = 4 * ITEMS_PER_STEP;

class Ring implements HashTable {
  readonly hosts: readonly RingHost[];
  readonly places: RingPlaces;

  constructor(hosts: readonly RingHost[], places: RingPlaces) {
    this.hosts = hosts;
    this.places = places;
  }

  /** The first place at or behind the hash, going round. */
  choose({ high, low }: Hash64, draw: number): UpstreamHost | undefined {
    const { size, host } = this.places;
    if (size === 0) return undefined;
    const found = this.places.find(high, low);
    return this.hosts[host[((found === size ? 0 : found) + draw) % size] as number]?.host;
  }
}

function wholeOf(hosts: readonly RingHost[]): readonly Numbers[] {
  return hosts.map(({ key, share }, position) => ({ key, position, from: 0, to: share }));
}

function countOf(numbers: readonly Numbers[]): number {
  return numbers.reduce((sum, { from, to }) => sum + to - from, 0);
}

/** Hashing and sorting costs a few times what looking through a sorted ring does. */
function isMostlyOther({ added, dropped }: Difference, size: number): boolean {
  return countOf(added) + countOf(dropped) > size / 2;
}

/** Undefined where hosts share a key: which of them comes first depends on the order of all. */
function* differenceOf(
  before: readonly RingHost[],
  after: readonly RingHost[],
): Steps<Difference | undefined> {
  const wanted = yield* positionsByKey(after);
  const known = yield* positionsByKey(before);
  if (wanted.size < after.length || known.size < before.length) return undefined;
  const moved = new Int32Array(before.length).fill(GONE);
  const dropped: Numbers[] = [];
  for (const [position, { key, share }] of before.entries()) {
    if (position % ITEMS_PER_STEP === 0) yield;
    const next = wanted.get(key) ?? GONE;
    const kept = after[next];
    if (kept === undefined) continue;
    moved[position] = next;
    if (kept.share < share) dropped.push({ key, position, from: kept.share, to: share });
  }
  const added: Numbers[] = [];
  for (const [position, { key, share }] of after.entries()) {
    if (position % ITEMS_PER_STEP === 0) yield;
    const from = before[known.get(key) ?? GONE]?.share ?? 0;
    if (from < share) added.push({ key, position, from, to: share });
  }
  return { added, dropped, moved };
}

function* positionsByKey(hosts: readonly RingHost[]): Steps<ReadonlyMap<string, number>> {
  const positions = new Map<string, number>();
  for (const [position, { key }] of hosts.entries()) {
    positions.set(key, position);
    if (position % ITEMS_PER_STEP === 0) yield;
  }
  return positions;
}
