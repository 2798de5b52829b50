/**
 * The buckets of one domain in this worker. What they let pass is told to the worker that owns the
 * stream to the service, which may be this one; what the service assigns comes back the same way.
 * Without an owner the buckets go on with what they have.
 */
import {
  QUOTA_STEP_MAX,
  type QuotaCommand,
  type QuotaGift,
  type QuotaId,
  type QuotaNotice,
} from '../../../../shared/messages/quota-steps.ts';
import type { QuotaBucketSettings } from '../../../../shared/resources/filters/http/limits/rate-limit-quota.ts';
import { LoopTimer, type TimerOwner } from '../../../loop/timers.ts';
import type { WorkerLoop } from '../../../loop/worker-loop.ts';
import type { GrpcService } from '../../../services/grpc-services.ts';
import { QuotaBucket, type TokenStates } from './quota-bucket.ts';
import { idKey } from './quota-messages.ts';
import { QuotaOwner } from './quota-owner.ts';

/** Buckets of a domain; clients may choose what tells them apart. Others are as if unassigned. */
const BUCKETS_MAX = 10_000;
/** A bucket that nobody used for so long is forgotten. */
const IDLE_MS = 600_000;
/** The owner is told so often. */
const TICK_MS = 500;

export interface QuotaClientParts {
  readonly domain: string;
  /** The client's own, which it releases. */
  readonly service: GrpcService & { release(): void };
  readonly states: TokenStates;
}

export class QuotaClient implements TimerOwner {
  readonly #parts: QuotaClientParts;
  readonly #loop: WorkerLoop;
  readonly #send: (step: QuotaNotice['step']) => void;
  readonly #buckets = new Map<string, QuotaBucket>();
  /** For requests beyond the limit of buckets, by the settings that they fit. */
  readonly #others = new WeakMap<QuotaBucketSettings, QuotaBucket>();
  readonly #timer = new LoopTimer(this, 0);
  /** While this worker owns the stream. */
  #owner: QuotaOwner | undefined;
  /** Somebody owns the stream. */
  #isOwned = false;
  #isClosed = false;

  constructor(
    parts: QuotaClientParts,
    loop: WorkerLoop,
    send: (step: QuotaNotice['step']) => void,
  ) {
    this.#parts = parts;
    this.#loop = loop;
    this.#send = send;
    send({ step: 'join' });
  }

  /** Whether the request may pass. The first one of a bucket is told of at once. */
  take(id: QuotaId, settings: QuotaBucketSettings): boolean {
    const { ms } = this.#loop.clock;
    const key = idKey(id);
    const known = this.#buckets.get(key);
    if (known !== undefined) return known.take(ms);
    const made = this.#buckets.size < BUCKETS_MAX;
    const bucket = made ? new QuotaBucket(id, settings, ms) : this.#other(settings, ms);
    const isAllowed = bucket.take(ms);
    if (!made) return isAllowed;
    this.#buckets.set(key, bucket);
    this.#tell([bucket]);
    this.#arm();
    return isAllowed;
  }

  obey(step: QuotaCommand['step']): void {
    switch (step.step) {
      case 'owned':
        return this.#owned(step.isByYou);
      case 'used':
        return this.#owner?.used(step.uses);
      case 'given':
        return this.#given(step.gifts);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#isOwned = false;
    this.#timer.disarm();
    this.#owner?.close();
    this.#owner = undefined;
    this.#buckets.clear();
    this.#parts.service.release();
    this.#send({ step: 'leave' });
  }

  onTimer(): void {
    const { ms } = this.#loop.clock;
    for (const [key, bucket] of this.#buckets) {
      if (ms - bucket.usedMs > IDLE_MS) this.#buckets.delete(key);
    }
    this.#tell(this.#due());
    this.#owner?.tick();
    this.#arm();
  }

  /** The owner's stream goes on; the next tick goes by what is there. */
  onException(): void {
    this.#arm();
  }

  #owned(isByYou: boolean): void {
    if (isByYou) {
      this.#owner ??= new QuotaOwner(this.#parts, this.#loop, (gifts) => {
        this.#given(gifts);
        this.#send({ step: 'given', gifts });
      });
    } else {
      this.#owner?.close();
      this.#owner = undefined;
    }
    this.#isOwned = true;
    for (const bucket of this.#buckets.values()) bucket.isTold = false;
    this.#tell(this.#due());
    this.#arm();
  }

  /** Those of which there is something to tell; the rest of many follows. */
  #due(): readonly QuotaBucket[] {
    const due: QuotaBucket[] = [];
    for (const bucket of this.#buckets.values()) {
      if (due.length >= QUOTA_STEP_MAX) break;
      if (bucket.isDue) due.push(bucket);
    }
    return due;
  }

  #given(gifts: readonly QuotaGift[]): void {
    const { ms } = this.#loop.clock;
    for (const gift of gifts) {
      const key = idKey(gift.id);
      if ('isAbandoned' in gift) this.#buckets.delete(key);
      else this.#buckets.get(key)?.given(gift, this.#parts.states, ms);
    }
  }

  #other(settings: QuotaBucketSettings, nowMs: number): QuotaBucket {
    const known = this.#others.get(settings) ?? new QuotaBucket([], settings, nowMs);
    this.#others.set(settings, known);
    return known;
  }

  /** What cannot be told now is told later. */
  #tell(buckets: readonly QuotaBucket[]): void {
    if (!this.#isOwned || buckets.length === 0) return;
    const { ms } = this.#loop.clock;
    const uses = buckets.map((bucket) => bucket.use(ms));
    if (this.#owner === undefined) this.#send({ step: 'used', uses });
    else this.#owner.used(uses);
  }

  #arm(): void {
    if (this.#isClosed) return;
    const isWanted = this.#buckets.size > 0 || this.#owner?.isEmpty === false;
    if (isWanted && !this.#timer.isArmed) this.#loop.timers.list(TICK_MS).arm(this.#timer);
  }
}
