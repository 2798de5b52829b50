/** Limits of bandwidth share filters as this worker keeps them: their buckets, and who waits. */
import type { SharedBandwidth } from '../../../../shared/resources/filters/http/limits/bandwidth-share.ts';
import { readInteger } from '../../../../shared/runtime/read-runtime.ts';
import type { WorkerLoop } from '../../../loop/worker-loop.ts';
import { TokenBucket } from '../../common/token-bucket.ts';
import type { FilterContext } from '../../filter-context.ts';
import { ShareQueue } from './share-queue.ts';
import type { Share } from './shared-body.ts';

const SECOND_MS = 1000;
const KILOBYTE = 1024;

/** Those who wait, by limit: all listeners of a worker stand in the same queue. */
const QUEUES = new WeakMap<WorkerLoop, Map<string, ShareQueue>>();

export function bandwidthShare(
  { bucketId, runtimeKey, kilobytes: byDefault }: SharedBandwidth,
  fillIntervalMs: number,
  context: FilterContext,
): Share {
  const key = JSON.stringify(['bandwidth_share', bucketId, runtimeKey, byDefault]);
  const { loop, runtime } = context;
  const state = context.processState(key);
  const queues = QUEUES.get(loop) ?? new Map<string, ShareQueue>();
  QUEUES.set(loop, queues);
  let bucket = makeBucket(byDefault);
  let kilobytes = byDefault;
  const share: Share = {
    bucket: () => {
      const now = readInteger(runtime.snapshot, runtimeKey, byDefault);
      if (now !== kilobytes) bucket = makeBucket(now);
      kilobytes = now;
      return bucket;
    },
    waiting: () => queues.get(key),
    queue: () => {
      const source = { fillIntervalMs, bucket: () => share.bucket() };
      const queue = queues.get(key) ?? new ShareQueue(loop, source, () => void queues.delete(key));
      queues.set(key, queue);
      return queue;
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
