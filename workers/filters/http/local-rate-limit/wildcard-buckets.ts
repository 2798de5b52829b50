/**
 * The buckets of a descriptor with entries that any value fits: one for each combination of values,
 * of which those used last are kept. Workers share them: who first sees a combination takes the
 * place of the one that was unused for longest, and the place's number says whose it is. Two
 * workers that see a new combination at once may take two places; the first of them counts then.
 *
 * Where there are many places they stand in sets: a combination looks in the set of its hash alone,
 * and the longest unused is that of the set. A set has its places with its first use.
 */
import { createHash } from 'node:crypto';
import type { RateLimitBucket } from '../../../../shared/resources/routes/rate-limit-bucket.ts';
import type { DescriptorLimit } from '../../../../shared/resources/routes/rate-limits.ts';
import { type Descriptor, descriptorKey } from '../../common/rate-limit-descriptors.ts';
import { type BucketState, TokenBucket } from '../../common/token-bucket.ts';

/** A double holds whole numbers of so many bits. */
const HASH_BITS = 52;
/** Places that one request looks at. */
const SET_SIZE = 64;

interface Place {
  /** The hash of a combination of values; 0: nobody's yet. */
  readonly owner: BucketState;
  /** Counts up with each use. */
  readonly used: BucketState;
  readonly state: BucketState;
  readonly bucket: TokenBucket;
}

interface Numbers {
  state(name: string): BucketState;
}

export class WildcardBuckets {
  readonly #entries: DescriptorLimit['entries'];
  readonly #bucket: RateLimitBucket;
  readonly #numbers: Numbers;
  readonly #name: string;
  readonly #setSize: number;
  readonly #sets: (readonly Place[] | undefined)[];
  readonly #uses: BucketState;

  constructor({ entries, bucket }: DescriptorLimit, count: number, numbers: Numbers) {
    this.#entries = entries;
    this.#bucket = bucket;
    this.#numbers = numbers;
    this.#name = nameOf(bucket);
    this.#setSize = Math.min(count, SET_SIZE);
    this.#sets = Array.from({ length: Math.ceil(count / SET_SIZE) }, () => undefined);
    this.#uses = numbers.state(`${this.#name} uses`);
  }

  /** Undefined for a descriptor that does not fit. */
  find(descriptor: Descriptor): TokenBucket | undefined {
    if (!this.#fits(descriptor)) return undefined;
    const hash = hashOf(descriptorKey(descriptor));
    const places = this.#setOf(hash);
    const place = placeOf(hash, places) ?? this.#claim(hash, places);
    if (place === undefined) return undefined;
    place.used.exchange(place.used.load(), this.#nextUse());
    return place.bucket;
  }

  #fits(descriptor: Descriptor): boolean {
    return (
      descriptor.length === this.#entries.length &&
      this.#entries.every(({ key, value }, index) => {
        const asked = descriptor[index];
        return asked?.key === key && (value === '' || asked.value === value);
      })
    );
  }

  #setOf(hash: number): readonly Place[] {
    if (this.#sets.length === 0) return [];
    const index = hash % this.#sets.length;
    return (this.#sets[index] ??= this.#makeSet(index));
  }

  #makeSet(set: number): readonly Place[] {
    const [name, numbers] = [this.#name, this.#numbers];
    return Array.from({ length: this.#setSize }, (_, at) => {
      const index = set * SET_SIZE + at;
      const state = numbers.state(`${name} bucket ${index}`);
      return {
        owner: numbers.state(`${name} owner ${index}`),
        used: numbers.state(`${name} used ${index}`),
        state,
        bucket: new TokenBucket(this.#bucket, state),
      };
    });
  }

  /** Another worker may take the same place: one that does not get it looks again, so often. */
  #claim(hash: number, places: readonly Place[]): Place | undefined {
    for (const _ of places) {
      const oldest = oldestOf(places);
      const before = oldest?.owner.load() ?? 0;
      if (oldest?.owner.exchange(before, hash) === true) {
        oldest.state.exchange(oldest.state.load(), 0);
        oldest.used.exchange(oldest.used.load(), this.#nextUse());
        return placeOf(hash, places) ?? oldest;
      }
      const found = placeOf(hash, places);
      if (found !== undefined) return found;
    }
    return oldestOf(places);
  }

  #nextUse(): number {
    for (;;) {
      const before = this.#uses.load();
      if (this.#uses.exchange(before, before + 1)) return before + 1;
    }
  }
}

function placeOf(hash: number, places: readonly Place[]): Place | undefined {
  return places.find(({ owner }) => owner.load() === hash);
}

function oldestOf(places: readonly Place[]): Place | undefined {
  let [oldest] = places;
  for (const place of places) {
    if (oldest === undefined || place.used.load() < oldest.used.load()) oldest = place;
  }
  return oldest;
}

function nameOf({ place, maxTokens, tokensPerFill, fillIntervalMs }: RateLimitBucket): string {
  return JSON.stringify([place, maxTokens, tokensPerFill, fillIntervalMs]);
}

/** Never 0. */
function hashOf(key: string): number {
  const digest = createHash('sha256').update(key).digest();
  return Number(BigInt.asUintN(HASH_BITS, digest.readBigUInt64LE())) || 1;
}
