/**
 * The stream of segments to SkyWalking's collector: opened at once and again after it has ended.
 * Segments that cannot be sent wait, up to a number; what comes then is dropped and counted.
 */
import type { StatWriter } from '../../../shared/stats/stat-writer.ts';
import { SKYWALKING_TRACER } from '../../../shared/stats/templates/telemetry.ts';
import { LoopTimer, type TimerOwner } from '../../loop/timers.ts';
import type { WorkerLoop } from '../../loop/worker-loop.ts';
import type { GrpcService, GrpcStream } from '../../services/grpc-services.ts';

const METHOD = '/skywalking.v3.TraceSegmentReportService/collect';
/** Between two attempts to open the stream; twice as long after each, up to the limit. */
const FIRST_BACKOFF_MS = 500;
const BACKOFF_MS_MAX = 30_000;
/** For the collector's answer once nothing more is sent. */
const LAST_ANSWER_MS = 1000;
const WAITING_BYTES_MAX = 4 * 1024 * 1024;

const { index } = SKYWALKING_TRACER;

export interface SegmentStreamOptions {
  readonly loop: WorkerLoop;
  readonly stats: StatWriter;
  readonly base: number;
  readonly service: GrpcService;
  readonly segmentsMax: number;
}

export class SegmentStream implements TimerOwner {
  readonly #options: SegmentStreamOptions;
  readonly #timer = new LoopTimer(this, 0);
  #stream: GrpcStream | undefined;
  #waiting: Buffer[] = [];
  #bytes = 0;
  #backoffMs = FIRST_BACKOFF_MS;
  #isReleased = false;

  constructor(options: SegmentStreamOptions) {
    this.#options = options;
    // The clusters are not in force before this event has ended.
    options.loop.timers.list(1).arm(this.#timer);
  }

  send(segment: Buffer): void {
    const stream = this.#stream;
    if (stream !== undefined && !stream.isCongested && this.#waiting.length === 0) {
      stream.send(segment);
      this.#count(index.segments_sent);
      return;
    }
    const { segmentsMax } = this.#options;
    if (this.#waiting.length >= segmentsMax || this.#bytes + segment.length > WAITING_BYTES_MAX) {
      this.#count(index.segments_dropped);
      return;
    }
    this.#waiting.push(segment);
    this.#bytes += segment.length;
  }

  release(): void {
    this.#isReleased = true;
    this.#timer.disarm();
    this.#options.service.release();
    if (this.#stream === undefined) return;
    this.#options.loop.timers.list(LAST_ANSWER_MS).arm(this.#timer);
    this.#stream.endSending();
  }

  onTimer(): void {
    if (this.#isReleased) return this.#stream?.cancel();
    if (this.#stream !== undefined) return;
    let hasEnded = false;
    const stream = this.#options.service.open(
      { method: METHOD, timeoutMs: 0 },
      {
        onMessage: () => undefined,
        onEnd: () => {
          hasEnded = true;
          this.#onEnd();
        },
        onWritable: () => this.#flush(),
        onException: () => this.#onEnd(),
      },
    );
    if (hasEnded) return;
    this.#stream = stream;
    this.#flush();
  }

  onException(): void {
    this.#onEnd();
  }

  #onEnd(): void {
    this.#stream = undefined;
    if (this.#isReleased) this.#timer.disarm();
    if (this.#isReleased || this.#timer.isArmed) return;
    this.#options.loop.timers.list(this.#backoffMs).arm(this.#timer);
    this.#backoffMs = Math.min(BACKOFF_MS_MAX, 2 * this.#backoffMs);
  }

  #flush(): void {
    const stream = this.#stream;
    if (stream === undefined || this.#waiting.length === 0) return;
    let sent = 0;
    for (const segment of this.#waiting) {
      if (stream.isCongested || this.#stream !== stream) break;
      stream.send(segment);
      this.#bytes -= segment.length;
      sent += 1;
    }
    this.#waiting = this.#waiting.slice(sent);
    if (sent === 0) return;
    this.#backoffMs = FIRST_BACKOFF_MS;
    const { stats, base } = this.#options;
    this.#count(index.cache_flushed);
    stats.add(base + index.segments_flushed, sent);
    stats.add(base + index.segments_sent, sent);
  }

  #count(offset: number): void {
    this.#options.stats.increment(this.#options.base + offset);
  }
}
