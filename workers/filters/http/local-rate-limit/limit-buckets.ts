/** The buckets of one rate limit: its own, and one for each configured descriptor. */
import type { LocalRateLimitOptions } from '../../../../shared/resources/filters/http/local-rate-limit.ts';
import type { RateLimitBucket } from '../../../../shared/resources/routes/rate-limit-bucket.ts';
import { type Descriptor, descriptorKey } from '../../common/rate-limit-descriptors.ts';
import type { BucketState, TokenBucket } from '../../common/token-bucket.ts';
import { WildcardBuckets } from './wildcard-buckets.ts';

interface Matched {
  readonly bucket: TokenBucket;
  readonly perMs: number;
  readonly isShadow: boolean;
}

export interface Taken {
  readonly isAllowed: boolean;
  /** It is beyond a limit in shadow mode, and beyond no other one. */
  readonly isShadowed: boolean;
  /** The one that decided. */
  readonly bucket: TokenBucket;
  /** Whose bucket it is; undefined: the limit's own. */
  readonly descriptor: Descriptor | undefined;
}

/** Where buckets keep what they hold: in one worker, or in all of them together. */
export interface BucketStore {
  bucket(options: RateLimitBucket): TokenBucket;
  state(name: string): BucketState;
}

export class LimitBuckets {
  readonly #own: TokenBucket;
  readonly #alwaysTakesOwn: boolean;
  readonly #byDescriptor = new Map<string, Matched>();
  readonly #wildcards: (Omit<Matched, 'bucket'> & { readonly buckets: WildcardBuckets })[] = [];

  constructor(
    own: RateLimitBucket,
    { descriptors, alwaysTakesOwn, bucketsPerWildcard }: LocalRateLimitOptions,
    store: BucketStore,
  ) {
    this.#own = store.bucket(own);
    this.#alwaysTakesOwn = alwaysTakesOwn;
    for (const { entries, bucket, isShadow = false } of descriptors) {
      const perMs = bucket.tokensPerFill / bucket.fillIntervalMs;
      if (entries.some(({ value }) => value === '')) {
        const buckets = new WildcardBuckets({ entries, bucket }, bucketsPerWildcard, store);
        this.#wildcards.push({ buckets, perMs, isShadow });
      } else {
        const matched = { bucket: store.bucket(bucket), perMs, isShadow };
        this.#byDescriptor.set(descriptorKey(entries), matched);
      }
    }
  }

  get hasDescriptors(): boolean {
    return this.#byDescriptor.size > 0 || this.#wildcards.length > 0;
  }

  /**
   * A token of every bucket that the descriptors name, the slowest first, and of the limit's own.
   */
  take(descriptors: readonly Descriptor[], nowMs: number): Taken {
    const matched = descriptors
      .flatMap((descriptor) => {
        const found = this.#find(descriptor);
        return found === undefined ? [] : [{ ...found, descriptor }];
      })
      .toSorted((one, other) => one.perMs - other.perMs);
    let shadowed: (typeof matched)[number] | undefined;
    for (const one of matched) {
      const { bucket, descriptor } = one;
      if (bucket.take(nowMs)) continue;
      if (!one.isShadow) return { isAllowed: false, isShadowed: false, bucket, descriptor };
      shadowed ??= one;
    }
    const first = shadowed ?? matched[0];
    const isAllowed = (first !== undefined && !this.#alwaysTakesOwn) || this.#own.take(nowMs);
    const decided = isAllowed ? first : undefined;
    return {
      isAllowed,
      isShadowed: isAllowed && shadowed !== undefined,
      bucket: decided?.bucket ?? this.#own,
      descriptor: decided?.descriptor,
    };
  }

  /** An exact descriptor goes before one that any value fits. */
  #find(descriptor: Descriptor): Matched | undefined {
    const exact = this.#byDescriptor.get(descriptorKey(descriptor));
    if (exact !== undefined) return exact;
    for (const { buckets, ...limit } of this.#wildcards) {
      const bucket = buckets.find(descriptor);
      if (bucket !== undefined) return { bucket, ...limit };
    }
    return undefined;
  }
}
