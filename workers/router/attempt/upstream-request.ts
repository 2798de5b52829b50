/**
 * One attempt of a request at one host: waits for a connection, sends the request, hands the
 * response to its owner. Owns the back-pressure between the two connections and the attempt's own
 * timers; what a failure means is the owner's to decide.
 */
import type { Metadata, RequestEncoder, ResetReason } from '../../stream/codec.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { AttemptTrace } from '../../stream/request-trace.ts';
import { LoopTimer, type TimerOwner } from '../../loop/timers.ts';
import type { UpstreamHost } from '../../upstream/hosts/host.ts';
import type {
  StreamSource,
  PoolClient,
  UpstreamConnectionInfo,
} from '../../upstream/pools/http-pool.ts';
import type { AttemptOptions, PerTryTimeout, UpstreamRequestOwner } from './attempt-seam.ts';
import { resetTexts } from './reset-reasons.ts';
import { PendingBody } from './pending-body.ts';
import type { UpstreamAttemptLog } from './upstream-log.ts';
import { sendMetadata, withWaiting } from './waiting-metadata.ts';

/** The host is not asked again before it passes its checks. */
const IMMEDIATE_FAIL = 'x-envoy-immediate-health-check-fail';
const INFORMATIONAL: ReadonlySet<number> = new Set([100, 102, 103, 104]);
const TIMERS = ['whole', 'idle', 'duration'] as const satisfies readonly PerTryTimeout[];
const TIMER_WHOLE = 0;
const TIMER_IDLE = 1;
const TIMER_DURATION = 2;
const NOTHING = Buffer.alloc(0);

export class UpstreamRequest implements PoolClient, TimerOwner {
  readonly host: UpstreamHost;
  readonly log: UpstreamAttemptLog | undefined;
  readonly trace: AttemptTrace | undefined;
  /** False while the request waits, and when a limit refused it before the host was involved. */
  hasTriedHost = false;
  isAwaitingHeaders = true;
  /** Another attempt was begun beside this one. */
  isRetried = false;
  readonly #owner: UpstreamRequestOwner;
  readonly #pool: StreamSource;
  readonly #headers: HeaderMap;
  #encoder: RequestEncoder | undefined = undefined;
  connection: UpstreamConnectionInfo | undefined = undefined;
  next: PoolClient | undefined = undefined;
  previous: PoolClient | undefined = undefined;
  /** Set once the whole request is known. */
  #sawEnd: boolean;
  /** There once something of the request had to wait. */
  #pending: PendingBody | undefined = undefined;
  #sawInformational = false;
  #waitingMetadata: Metadata[] | undefined = undefined;
  #isWritePaused = false;
  #isOver = false;
  readonly #options: AttemptOptions;
  /** The host has yet to agree to a body that is no part of HTTP: it would read it as requests. */
  #awaitsAgreement = false;
  /** Filters before the codec have yet to let the head go. */
  #isHeadHeld: boolean;
  #wholeTimer: LoopTimer | undefined = undefined;
  #idleTimer: LoopTimer | undefined = undefined;
  #durationTimer: LoopTimer | undefined = undefined;

  constructor(
    owner: UpstreamRequestOwner,
    target: { readonly host: UpstreamHost; readonly pool: StreamSource },
    headers: HeaderMap,
    options: AttemptOptions,
  ) {
    this.#owner = owner;
    this.host = target.host;
    this.#pool = target.pool;
    this.#headers = headers;
    this.#sawEnd = options.endStream;
    this.log = options.log;
    this.trace = options.trace;
    this.#options = options;
    this.#isHeadHeld = options.isHeadHeld;
    this.#awaitsAgreement = this.#mustAgree(options.endStream);
  }

  start(): void {
    this.#pool.newStream(this);
  }

  /** Whether what follows the request's head is another protocol, once the host agrees. */
  #mustAgree(endStream: boolean): boolean {
    if (endStream || this.#options.isTunnel) return false;
    return this.#headers.method === 'CONNECT' || this.#headers.has('upgrade');
  }

  /** The whole request has come and there is a connection: the attempt's time begins. */
  startTimers(): void {
    if (this.#isOver || this.#encoder === undefined) return;
    const { perTryMs, perTryIdleMs } = this.#options.timeouts;
    if (perTryMs > 0) this.#wholeTimer ??= this.#armed(TIMER_WHOLE, perTryMs);
    if (perTryIdleMs > 0) this.#idleTimer ??= this.#armed(TIMER_IDLE, perTryIdleMs);
  }

  onException(): void {
    this.#owner.onException();
  }

  onTimer(kind: number): void {
    if (!this.#isOver) this.#owner.onPerTryTimeout(this, TIMERS[kind] ?? 'whole');
  }

  sendData(data: Buffer, endStream: boolean): void {
    if (this.#isOver) return;
    if (endStream) this.#sawEnd = true;
    this.log?.sent(data.length);
    this.#options.meter?.sent(data.length);
    if (this.#encoder !== undefined && !this.#awaitsAgreement) {
      return this.#encoder.encodeData(data, endStream);
    }
    const isRefused = this.#awaitsAgreement && !this.isAwaitingHeaders;
    if (data.length > 0 && !isRefused) this.#waitingBody().add(data);
  }

  sendTrailers(trailers: HeaderMap): void {
    if (this.#isOver) return;
    this.#sawEnd = true;
    if (this.#encoder === undefined || this.#awaitsAgreement)
      this.#waitingBody().trailers = trailers;
    else this.#encoder.encodeTrailers(trailers);
  }

  sendMetadata(metadata: Metadata): void {
    if (this.#isOver) return;
    if (this.#encoder === undefined || this.#isHeadHeld) {
      this.#waitingMetadata = withWaiting(this.#waitingMetadata, metadata);
    } else sendMetadata(this.#encoder, this.connection, metadata);
  }

  /** Gives the attempt up; the owner hears nothing more of it. */
  cancel(): void {
    if (this.#isOver) return;
    this.#end();
    if (this.#encoder === undefined) this.#pool.cancel(this);
    else this.#encoder.resetStream();
  }

  pauseResponse(paused: boolean): void {
    if (!this.#isOver) this.#encoder?.pauseResponse(paused);
  }

  onPoolReady(encoder: RequestEncoder, connection: UpstreamConnectionInfo): void {
    const { loop, maxDurationMs } = this.#options;
    loop.current = this.#owner;
    this.#encoder = encoder;
    this.connection = connection;
    this.hasTriedHost = true;
    this.#owner.onHostTried(this);
    this.#owner.onUpstreamConnected(this, connection);
    this.log?.ready();
    if (maxDurationMs > 0) this.#durationTimer = this.#armed(TIMER_DURATION, maxDurationMs);
    if (!this.#isHeadHeld) this.#sendHead(encoder);
  }

  #sendHead(encoder: RequestEncoder): void {
    const waitingMetadata = this.#waitingMetadata ?? [];
    const isBare = this.#pending?.isEmpty !== false && waitingMetadata.length === 0;
    const isWhole = this.#sawEnd && isBare && !this.#awaitsAgreement;
    const fault = encoder.encodeHeaders(this.#headers, isWhole);
    if (fault !== undefined) {
      this.#end();
      return this.#owner.onRequestRefused(this, fault);
    }
    for (const metadata of waitingMetadata) sendMetadata(encoder, this.connection, metadata);
    if (!isWhole && !this.#awaitsAgreement) this.#sendPending(encoder);
  }

  /** Filters before the codec let the head go; `endStream`: nothing follows it now. */
  headPassed(endStream: boolean): void {
    if (this.#isOver) return;
    this.#isHeadHeld = false;
    this.#sawEnd = endStream;
    this.#awaitsAgreement = this.#mustAgree(endStream);
    if (this.#encoder !== undefined) this.#sendHead(this.#encoder);
  }

  #sendPending(encoder: RequestEncoder): void {
    if (this.#pending !== undefined)
      this.#pending.sendTo(encoder, this.#sawEnd, () => this.#isOver);
    else if (this.#sawEnd) encoder.encodeData(NOTHING, true);
  }

  #waitingBody(): PendingBody {
    const { bufferLimitBytes, loop } = this.#options;
    return (this.#pending ??= new PendingBody(this.#owner, bufferLimitBytes, loop.held));
  }

  onPoolFailure(reason: ResetReason, detail: string, triedHost: boolean): void {
    this.#options.loop.current = this.#owner;
    this.hasTriedHost = triedHost;
    if (triedHost) this.#owner.onHostTried(this);
    this.#onOver(reason, detail);
  }

  decode1xx(headers: HeaderMap): void {
    this.#options.loop.current = this.#owner;
    // As in Envoy: the first one, where it is of a kind that is passed on.
    if (this.#sawInformational || !INFORMATIONAL.has(headers.status)) return;
    this.#sawInformational = true;
    this.#owner.onUpstream1xx(headers);
  }

  decodeHeaders(headers: HeaderMap, endStream: boolean): void {
    this.#options.loop.current = this.#owner;
    this.isAwaitingHeaders = false;
    if (this.#awaitsAgreement) this.#onAgreement(headers.status, endStream);
    if (this.host.home?.isChecked === true && headers.has(IMMEDIATE_FAIL)) {
      this.host.home.failPassively(this.host);
    }
    this.#options.meter?.responded(headers, this.connection?.isAnswerChunked === true);
    this.#wholeTimer?.disarm();
    this.#restartIdleTimer();
    this.trace?.answered(headers);
    if (endStream) this.#end();
    this.#owner.onUpstreamHeaders(this, headers, endStream);
  }

  /** A host that does not agree never sees the body: the response is all that there is. */
  #onAgreement(status: number, endStream: boolean): void {
    const isSuccess = status >= 200 && status < 300;
    const isAgreed = this.#headers.method === 'CONNECT' ? isSuccess : status === 101;
    const encoder = this.#encoder;
    if (!isAgreed || endStream || encoder === undefined) {
      this.#pending?.release();
      return;
    }
    this.#awaitsAgreement = false;
    this.#sendPending(encoder);
  }

  decodeData(data: Buffer, endStream: boolean): void {
    this.#options.loop.current = this.#owner;
    // What a filter cancelled from within the same read may still bring the rest of it.
    if (this.#isOver) return;
    this.#restartIdleTimer();
    this.#options.meter?.received(data.length);
    if (endStream) this.#end();
    this.#owner.onUpstreamData(this, data, endStream);
  }

  decodeTrailers(trailers: HeaderMap): void {
    this.#options.loop.current = this.#owner;
    if (this.#isOver) return;
    this.trace?.trailed(trailers);
    this.#end();
    this.#owner.onUpstreamTrailers(this, trailers);
  }

  decodeMetadata(metadata: Metadata): void {
    this.#options.loop.current = this.#owner;
    if (!this.#isOver) this.#owner.onUpstreamMetadata(metadata);
  }

  onReset(reason: ResetReason): void {
    this.#options.loop.current = this.#owner;
    this.#onOver(reason, '');
  }

  onWriteBlocked(blocked: boolean): void {
    if (this.#isOver || this.#isWritePaused === blocked) return;
    this.#isWritePaused = blocked;
    this.#owner.pauseRequest(blocked);
  }

  #onOver(reason: ResetReason, detail: string): void {
    if (this.#isOver) return;
    this.trace?.failed(resetTexts(reason).text);
    this.#end();
    this.#owner.onUpstreamReset(this, reason, detail);
  }

  #armed(kind: number, afterMs: number): LoopTimer {
    const timer = new LoopTimer(this, kind);
    this.#options.loop.timers.list(afterMs).arm(timer);
    return timer;
  }

  #restartIdleTimer(): void {
    const { loop, timeouts } = this.#options;
    if (this.#idleTimer !== undefined) loop.timers.list(timeouts.perTryIdleMs).arm(this.#idleTimer);
  }

  #end(): void {
    this.#isOver = true;
    this.#options.meter?.ended(this.#headers);
    this.#wholeTimer?.disarm();
    this.#idleTimer?.disarm();
    this.#durationTimer?.disarm();
    this.#pending?.release();
    if (this.#isWritePaused) this.#owner.pauseRequest(false);
    this.#isWritePaused = false;
  }
}
