/**
 * The buckets of a descriptor with entries that any value fits: one for each combination of values,
 * of which those used last are kept. Workers share them: who first sees a combination takes the
 * place of the one that was unused for longest, and the place's number says whose it is. Two
 * workers that see a new combination at once may take two places; the first of them counts then.
 */
import { createHash } from 'node:crypto';
import type { RateLimitBucket } from '../../../../shared/resources/routes/rate-limit-bucket.ts';
import type { DescriptorLimit } from '../../../../shared/resources/routes/rate-limits.ts';
import { type Descriptor, descriptorKey } from '../../common/rate-limit-descriptors.ts';
import { type BucketState, TokenBucket } from '../../common/token-bucket.ts';

/** A double holds whole numbers of so many bits. */
const HASH_BITS = 52;

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
  readonly #places: readonly Place[];
  readonly #uses: BucketState;

  constructor({ entries, bucket }: DescriptorLimit, count: number, numbers: Numbers) {
    this.#entries = entries;
    const name = nameOf(bucket);
    this.#uses = numbers.state(`${name} uses`);
    this.#places = Array.from({ length: count }, (_, index) => {
      const state = numbers.state(`${name} bucket ${index}`);
      return {
        owner: numbers.state(`${name} owner ${index}`),
        used: numbers.state(`${name} used ${index}`),
        state,
        bucket: new TokenBucket(bucket, state),
      };
    });
  }

  /** Undefined for a descriptor that does not fit. */
  find(descriptor: Descriptor): TokenBucket | undefined {
    if (!this.#fits(descriptor)) return undefined;
    const hash = hashOf(descriptorKey(descriptor));
    const place = this.#placeOf(hash) ?? this.#claim(hash);
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

  #placeOf(hash: number): Place | undefined {
    return this.#places.find(({ owner }) => owner.load() === hash);
  }

  /** Another worker may take the same place: whoever does not get it looks again, so often. */
  #claim(hash: number): Place | undefined {
    for (const _ of this.#places) {
      const oldest = this.#oldest();
      const before = oldest?.owner.load() ?? 0;
      if (oldest?.owner.exchange(before, hash) === true) {
        oldest.state.exchange(oldest.state.load(), 0);
        oldest.used.exchange(oldest.used.load(), this.#nextUse());
        return this.#placeOf(hash) ?? oldest;
      }
      const found = this.#placeOf(hash);
      if (found !== undefined) return found;
    }
    return this.#oldest();
  }

  #oldest(): Place | undefined {
    let [oldest] = this.#places;
    for (const place of this.#places) {
      if (oldest === undefined || place.used.load() < oldest.used.load()) oldest = place;
    }
    return oldest;
  }

  #nextUse(): number {
    for (;;) {
      const before = this.#uses.load();
      if (this.#uses.exchange(before, before + 1)) return before + 1;
    }
  }
}

function nameOf({ place, maxTokens, tokensPerFill, fillIntervalMs }: RateLimitBucket): string {
  return JSON.stringify([place, maxTokens, tokensPerFill, fillIntervalMs]);
}

/** Never 0. */
function hashOf(key: string): number {
  const digest = createHash('sha256').update(key).digest();
  return Number(BigInt.asUintN(HASH_BITS, digest.readBigUInt64LE())) || 1;
}
