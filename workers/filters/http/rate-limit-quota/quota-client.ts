/**
 * The buckets of one domain in this worker, and the stream by which a service is told what they let pass
 * and says what they may. Without a stream the buckets go on with what they have.
 */
import { LoopTimer, type TimerOwner } from '../../../loop/timers.ts';
import type { WorkerLoop } from '../../../loop/worker-loop.ts';
import type { QuotaBucketSettings } from '../../../../shared/resources/filters/http/limits/rate-limit-quota.ts';
import type {
  GrpcService,
  GrpcStream,
  GrpcStreamCallbacks,
} from '../../../services/grpc-services.ts';
import { QuotaBucket } from './quota-bucket.ts';
import {
  idKey,
  type QuotaId,
  type QuotaUsage,
  readActions,
  writeReport,
} from './quota-messages.ts';

const METHOD = '/envoy.service.rate_limit_quota.v3.RateLimitQuotaService/StreamRateLimitQuotas';
/** Buckets of a domain; clients may choose what tells them apart. Others are as if unassigned. */
const BUCKETS_MAX = 10_000;
/** Buckets in one report; the others follow in the next. */
const REPORTED_MAX = 1000;
/** A bucket that nobody used for so long is forgotten. */
const IDLE_MS = 600_000;
/** Reports are looked for so often, and a broken stream is opened again no sooner. */
const TICK_MS = 500;
const REOPEN_MS = 1000;

export class QuotaClient implements TimerOwner, GrpcStreamCallbacks {
  readonly #domain: string;
  readonly #service: GrpcService;
  readonly #loop: WorkerLoop;
  readonly #buckets = new Map<string, QuotaBucket>();
  /** For requests beyond the limit of buckets, by the settings that they fit. */
  readonly #others = new WeakMap<QuotaBucketSettings, QuotaBucket>();
  readonly #timer = new LoopTimer(this, 0);
  #stream: GrpcStream | undefined;
  #endedMs = -Infinity;
  #isClosed = false;

  constructor(domain: string, service: GrpcService, loop: WorkerLoop) {
    this.#domain = domain;
    this.#service = service;
    this.#loop = loop;
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
    this.#send([bucket]);
    if (!this.#timer.isArmed) this.#loop.timers.list(TICK_MS).arm(this.#timer);
    return isAllowed;
  }

  close(): void {
    this.#isClosed = true;
    this.#timer.disarm();
    this.#stream?.cancel();
    this.#stream = undefined;
    this.#buckets.clear();
  }

  onTimer(): void {
    const { ms } = this.#loop.clock;
    const due: QuotaBucket[] = [];
    for (const [key, bucket] of this.#buckets) {
      if (due.length < REPORTED_MAX && bucket.isDue(ms)) due.push(bucket);
      if (ms - bucket.usedMs > IDLE_MS) this.#buckets.delete(key);
    }
    if (due.length > 0) this.#send(due);
    if (this.#buckets.size > 0) this.#loop.timers.list(TICK_MS).arm(this.#timer);
  }

  onMessage(message: Buffer): void {
    const actions = readActions(message);
    if (actions === undefined) {
      this.#stream?.cancel();
      this.#ended();
      return;
    }
    for (const action of actions) {
      const key = idKey(action.id);
      if (action.kind === 'abandon') this.#buckets.delete(key);
      else this.#buckets.get(key)?.assign(action.strategy, action.ttlMs, this.#loop.clock.ms);
    }
  }

  onEnd(): void {
    this.#ended();
  }

  onException(): void {
    this.#stream?.cancel();
    this.#ended();
  }

  #other(settings: QuotaBucketSettings, nowMs: number): QuotaBucket {
    const known = this.#others.get(settings) ?? new QuotaBucket([], settings, nowMs);
    this.#others.set(settings, known);
    return known;
  }

  /** What cannot be sent now is told by a later report. */
  #send(buckets: readonly QuotaBucket[]): void {
    const stream = this.#open();
    if (stream === undefined || stream.isCongested) return;
    const { ms } = this.#loop.clock;
    const usages: QuotaUsage[] = buckets.map((bucket) => bucket.report(ms));
    stream.send(writeReport(this.#domain, usages));
  }

  #open(): GrpcStream | undefined {
    const { ms } = this.#loop.clock;
    if (this.#stream !== undefined || this.#isClosed) return this.#stream;
    if (ms - this.#endedMs < REOPEN_MS) return undefined;
    const before = this.#endedMs;
    const stream = this.#service.open({ method: METHOD }, this);
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
