/** The buckets of one rate limit: its own, and one for each configured descriptor. */
import type { LocalRateLimitOptions } from '../../../../shared/resources/filters/http/local-rate-limit.ts';
import type { RateLimitBucket } from '../../../../shared/resources/routes/rate-limit-bucket.ts';
import { type Descriptor, descriptorKey } from '../../common/rate-limit-descriptors.ts';
import type { TokenBucket } from '../../common/token-bucket.ts';

export interface Taken {
  readonly isAllowed: boolean;
  /** The one that decided. */
  readonly bucket: TokenBucket;
}

export class LimitBuckets {
  readonly #own: TokenBucket;
  readonly #alwaysTakesOwn: boolean;
  readonly #byDescriptor = new Map<string, { bucket: TokenBucket; perMs: number }>();

  constructor(
    own: RateLimitBucket,
    { descriptors, alwaysTakesOwn }: LocalRateLimitOptions,
    make: (options: RateLimitBucket) => TokenBucket,
  ) {
    this.#own = make(own);
    this.#alwaysTakesOwn = alwaysTakesOwn;
    for (const { entries, bucket } of descriptors) {
      const perMs = bucket.tokensPerFill / bucket.fillIntervalMs;
      this.#byDescriptor.set(descriptorKey(entries), { bucket: make(bucket), perMs });
    }
  }

  get hasDescriptors(): boolean {
    return this.#byDescriptor.size > 0;
  }

  /**
   * A token of every bucket that the descriptors name, the slowest first, and of the limit's own.
   */
  take(descriptors: readonly Descriptor[], nowMs: number): Taken {
    const matched = descriptors
      .map((descriptor) => this.#byDescriptor.get(descriptorKey(descriptor)))
      .filter((found) => found !== undefined)
      .toSorted((one, other) => one.perMs - other.perMs);
    for (const { bucket } of matched) {
      if (!bucket.take(nowMs)) return { isAllowed: false, bucket };
    }
    const [first] = matched;
    if (first !== undefined && !this.#alwaysTakesOwn) {
      return { isAllowed: true, bucket: first.bucket };
    }
    const isAllowed = this.#own.take(nowMs);
    return { isAllowed, bucket: isAllowed && first !== undefined ? first.bucket : this.#own };
  }
}
