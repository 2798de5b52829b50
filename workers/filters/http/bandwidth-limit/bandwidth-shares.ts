/** Limits of bandwidth share filters as this worker keeps them: their buckets, and who waits. */
import type {
  BandwidthShareOptions,
  SharedBandwidth,
} from '../../../../shared/resources/filters/http/limits/bandwidth-share.ts';
import { readInteger } from '../../../../shared/runtime/read-runtime.ts';
import type { WorkerLoop } from '../../../loop/worker-loop.ts';
import { TokenBucket } from '../../common/token-bucket.ts';
import type { FilterContext } from '../../filter-context.ts';
import type { SharedCount } from '../../../loop/shared-count.ts';
import { ShareClaims } from './share-claims.ts';
import { ShareQueue } from './share-queue.ts';
import type { Share } from './shared-body.ts';

const SECOND_MS = 1000;
const KILOBYTE = 1024;

/** One limit in this worker: all listeners stand in the same queue. */
interface Limit {
  readonly claims: ShareClaims;
  /** Those who wait. */
  queue: ShareQueue | undefined;
}

const LIMITS = new WeakMap<WorkerLoop, Map<string, Limit>>();

function limitOf(key: string, context: FilterContext): Limit {
  const limits = LIMITS.get(context.loop) ?? new Map<string, Limit>();
  LIMITS.set(context.loop, limits);
  const all = (): SharedCount => context.sharedCount(`claims ${key}`);
  const countOf = (tenant: string): SharedCount =>
    context.sharedCount(`bodies ${JSON.stringify([key, tenant])}`);
  const limit = limits.get(key) ?? { claims: new ShareClaims(all(), countOf), queue: undefined };
  limits.set(key, limit);
  return limit;
}

export function bandwidthShare(
  { bucketId, runtimeKey, kilobytes: byDefault }: SharedBandwidth,
  { fillIntervalMs, tenants }: BandwidthShareOptions,
  context: FilterContext,
): Share {
  const key = JSON.stringify(['bandwidth_share', bucketId, runtimeKey, byDefault]);
  const { loop, runtime } = context;
  const state = context.processState(key);
  const limit = limitOf(key, context);
  const { claims } = limit;
  for (const [tenant] of tenants) claims.expect(tenant);
  let bucket = makeBucket(byDefault);
  let kilobytes = byDefault;
  const share: Share = {
    bucket: () => {
      const now = readInteger(runtime.snapshot, runtimeKey, byDefault);
      if (now !== kilobytes) bucket = makeBucket(now);
      kilobytes = now;
      return bucket;
    },
    isWaitedFor: () => limit.queue !== undefined || claims.othersWait,
    queue: () => {
      const source = { fillIntervalMs, claims, bucket: () => share.bucket() };
      limit.queue ??= new ShareQueue(loop, source, () => (limit.queue = undefined));
      return limit.queue;
    },
  };
  return share;

  /** A second's bytes but those of one moment of filling. */
  function makeBucket(wanted: number): TokenBucket | undefined {
    if (wanted <= 0) return undefined;
    const bytes = wanted * KILOBYTE;
    const burst = bytes - Math.floor((bytes * fillIntervalMs) / SECOND_MS);
    const maxTokens = Math.max(1, burst);
    const options = { maxTokens, tokensPerFill: bytes, fillIntervalMs: SECOND_MS, place: key };
    return new TokenBucket(options, state);
  }
}
