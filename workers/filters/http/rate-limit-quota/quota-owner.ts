/**
 * The stream by which a quota service is told what the buckets of all workers let pass, and by which
 * it assigns what they may. One worker of the process has it.
 */
import type { QuotaGift, QuotaId, QuotaUse } from '../../../../shared/messages/quota-steps.ts';
import type { QuotaStrategy } from '../../../../shared/resources/filters/http/limits/rate-limit-quota.ts';
import type { WorkerLoop } from '../../../loop/worker-loop.ts';
import type { GrpcStream, GrpcStreamCallbacks } from '../../../services/grpc-services.ts';
import { isSameStrategy, TOKEN_PARTS, type TokenStates } from './quota-bucket.ts';
import type { QuotaClientParts } from './quota-client.ts';
import { idKey, type QuotaAction, readActions, writeReport } from './quota-messages.ts';

const METHOD = '/envoy.service.rate_limit_quota.v3.RateLimitQuotaService/StreamRateLimitQuotas';
/** Buckets of all workers; those beyond it are not told of. */
const BUCKETS_MAX = 10_000;
/** Buckets whose tokens are in shared memory; each worker has tokens of its own for the others. */
const NUMBERS_MAX = 5000;
/** Buckets in one report; the others follow in the next. */
const REPORTED_MAX = 1000;
/** A bucket that nobody told of for so long is forgotten: later than by any worker. */
const IDLE_MS = 610_000;
/** A broken stream is opened again no sooner. */
const REOPEN_MS = 1000;

interface OwnedBucket {
  readonly id: QuotaId;
  readonly number: number | undefined;
  readonly reportMs: number;
  allowed: number;
  denied: number;
  reportedMs: number;
  usedMs: number;
  assigned: { readonly strategy: QuotaStrategy; readonly endsMs: number } | undefined;
}

export class QuotaOwner implements GrpcStreamCallbacks {
  readonly #parts: QuotaClientParts;
  readonly #loop: WorkerLoop;
  readonly #give: (gifts: readonly QuotaGift[]) => void;
  readonly #buckets = new Map<string, OwnedBucket>();
  readonly #numbers = new Numbers();
  #stream: GrpcStream | undefined;
  #endedMs = -Infinity;
  #isClosed = false;

  constructor(
    parts: QuotaClientParts,
    loop: WorkerLoop,
    give: (gifts: readonly QuotaGift[]) => void,
  ) {
    this.#parts = parts;
    this.#loop = loop;
    this.#give = give;
  }

  get isEmpty(): boolean {
    return this.#buckets.size === 0;
  }

  /** Buckets that nobody told of before are reported at once. */
  used(uses: readonly QuotaUse[]): void {
    const { ms } = this.#loop.clock;
    const fresh: OwnedBucket[] = [];
    const gifts: QuotaGift[] = [];
    for (const use of uses) {
      const key = idKey(use.id);
      let bucket = this.#buckets.get(key);
      if (bucket === undefined) {
        if (this.#buckets.size >= BUCKETS_MAX) continue;
        bucket = this.#make(use, ms);
        this.#buckets.set(key, bucket);
        fresh.push(bucket);
      }
      bucket.allowed += use.allowed;
      bucket.denied += use.denied;
      bucket.usedMs = ms;
      if (use.isNew) gifts.push(giftOf(bucket, ms));
    }
    if (gifts.length > 0) this.#give(gifts);
    if (fresh.length > 0) this.#report(fresh);
  }

  /** Reports what is due. */
  tick(): void {
    const { ms } = this.#loop.clock;
    const due: OwnedBucket[] = [];
    for (const [key, bucket] of this.#buckets) {
      if (due.length < REPORTED_MAX && ms - bucket.reportedMs >= bucket.reportMs) due.push(bucket);
      if (ms - bucket.usedMs > IDLE_MS) this.#forget(key, bucket);
    }
    if (due.length > 0) this.#report(due);
  }

  close(): void {
    this.#isClosed = true;
    this.#stream?.cancel();
    this.#stream = undefined;
  }

  onMessage(message: Buffer): void {
    const actions = readActions(message);
    if (actions === undefined) {
      this.#stream?.cancel();
      this.#ended();
      return;
    }
    const gifts = actions.map((action) => this.#act(action)).filter((gift) => gift !== undefined);
    if (gifts.length > 0) this.#give(gifts);
  }

  onEnd(): void {
    this.#ended();
  }

  onException(): void {
    this.#stream?.cancel();
    this.#ended();
  }

  #make({ id, number: known, reportMs, assigned }: QuotaUse, nowMs: number): OwnedBucket {
    const { number, isUsed } = this.#numbers.take(known);
    if (isUsed && number !== undefined) refill(this.#parts.states, number, TOKEN_PARTS);
    return {
      id,
      number,
      reportMs,
      allowed: 0,
      denied: 0,
      reportedMs: nowMs,
      usedMs: nowMs,
      assigned: assigned && { strategy: assigned.strategy, endsMs: nowMs + assigned.ttlMs },
    };
  }

  /** What the service says of a bucket that nobody uses any more is not kept. */
  #act(action: QuotaAction): QuotaGift | undefined {
    const { ms } = this.#loop.clock;
    const key = idKey(action.id);
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) return undefined;
    if (action.kind === 'abandon') {
      this.#forget(key, bucket);
      return { id: action.id, isAbandoned: true };
    }
    const { strategy, ttlMs } = action;
    const { assigned, number } = bucket;
    // The same limit again goes on with the tokens that it has.
    const isOther = assigned === undefined || !isSameStrategy(assigned.strategy, strategy);
    if (isOther && strategy.kind === 'tokens' && number !== undefined) {
      refill(this.#parts.states, number, ['assigned']);
    }
    bucket.assigned = { strategy, endsMs: ms + ttlMs };
    return giftOf(bucket, ms);
  }

  #forget(key: string, { number }: OwnedBucket): void {
    this.#buckets.delete(key);
    if (number !== undefined) this.#numbers.giveBack(number);
  }

  /** What cannot be sent now is told by a later report. */
  #report(buckets: readonly OwnedBucket[]): void {
    const stream = this.#open();
    if (stream === undefined || stream.isCongested) return;
    const { ms } = this.#loop.clock;
    const usages = buckets.map(({ id, allowed, denied, reportedMs }) => ({
      id,
      elapsedMs: Math.max(0, ms - reportedMs),
      allowed,
      denied,
    }));
    for (const bucket of buckets) {
      bucket.allowed = bucket.denied = 0;
      bucket.reportedMs = ms;
    }
    stream.send(writeReport(this.#parts.domain, usages));
  }

  #open(): GrpcStream | undefined {
    const { ms } = this.#loop.clock;
    if (this.#stream !== undefined || this.#isClosed) return this.#stream;
    if (ms - this.#endedMs < REOPEN_MS) return undefined;
    const before = this.#endedMs;
    const stream = this.#parts.service.open({ method: METHOD }, this);
    // It may have ended while it was opened.
    if (this.#endedMs !== before) return undefined;
    this.#stream = stream;
    return stream;
  }

  #ended(): void {
    this.#stream = undefined;
    this.#endedMs = this.#loop.clock.ms;
  }
}

/** Places of buckets in shared memory. */
class Numbers {
  readonly #taken = new Set<number>();
  readonly #free: number[] = [];
  #next = 0;

  /** The known one where nobody else has it. `isUsed`: another bucket's tokens are there. */
  take(known: number | undefined): { readonly number: number | undefined; isUsed: boolean } {
    if (known !== undefined && known < NUMBERS_MAX && !this.#taken.has(known)) {
      this.#taken.add(known);
      return { number: known, isUsed: false };
    }
    for (let number = this.#free.pop(); number !== undefined; number = this.#free.pop()) {
      if (this.#taken.has(number)) continue;
      this.#taken.add(number);
      return { number, isUsed: true };
    }
    while (this.#taken.has(this.#next)) this.#next += 1;
    if (this.#next >= NUMBERS_MAX) return { number: undefined, isUsed: false };
    const number = this.#next;
    this.#next += 1;
    this.#taken.add(number);
    // A worker that owned the stream before may have used it.
    return { number, isUsed: true };
  }

  giveBack(number: number): void {
    this.#taken.delete(number);
    this.#free.push(number);
  }
}

/** Whatever was taken before: full. */
function refill(
  states: TokenStates,
  number: number,
  parts: readonly (typeof TOKEN_PARTS)[number][],
): void {
  for (const part of parts) {
    const state = states(number, part);
    while (!state.exchange(state.load(), 0));
  }
}

function giftOf({ id, number, assigned }: OwnedBucket, nowMs: number): QuotaGift {
  return {
    id,
    ...(number !== undefined && { number }),
    ...(assigned && {
      assigned: { strategy: assigned.strategy, ttlMs: assigned.endsMs - nowMs },
    }),
  };
}
