/**
 * One try of a request at one host: waits for a connection, sends the request, hands the response
 * to the router. Owns what must be kept of the body until there is a connection, the back-pressure
 * between the two connections and the try's own timers; what a failure means is the router's.
 */
import type { Endable } from '../../../shared/process/exceptions.ts';
import type { RequestEncoder, ResetReason } from '../../stream/codec.ts';

import type { HeaderMap } from '../../stream/header-map.ts';
import type { RequestTimeouts } from '../../routing/timeouts.ts';
import { LoopTimer, type TimerOwner } from '../../loop/timers.ts';
import type { UpstreamHost } from '../../upstream/hosts/host.ts';
import type {
  StreamSource,
  PoolClient,
  UpstreamConnectionInfo,
} from '../../upstream/pools/http-pool.ts';
import type { WorkerLoop } from '../../loop/worker-loop.ts';
import type { AttemptStats } from './attempt-stats.ts';
import type { UpstreamAttemptLog } from './upstream-log.ts';

/** What a try tells the router. */
export interface UpstreamRequestOwner extends Endable {
  /** The request reached for its host, whether or not a connection came of it. */
  onHostTried(upstream: UpstreamRequest): void;
  onUpstreamConnected(upstream: UpstreamRequest, connection: UpstreamConnectionInfo): void;
  onUpstream1xx(headers: HeaderMap): void;
  onUpstreamHeaders(upstream: UpstreamRequest, headers: HeaderMap, endStream: boolean): void;
  onUpstreamData(upstream: UpstreamRequest, data: Buffer, endStream: boolean): void;
  onUpstreamTrailers(upstream: UpstreamRequest, trailers: HeaderMap): void;
  /** The try is over without a complete response. `detail` is the operating system's word. */
  onUpstreamReset(upstream: UpstreamRequest, reason: ResetReason, detail: string): void;
  /** The request is none that may leave; `fault` says why. Nothing of it was sent. */
  onRequestRefused(upstream: UpstreamRequest, fault: string): void;
  /** The try took longer than one try may; it goes on unless the owner ends it. */
  onPerTryTimeout(upstream: UpstreamRequest, kind: PerTryTimeout): void;
  /** Back-pressure towards the client; counted. */
  pauseRequest(paused: boolean): void;
}

/** `idle`: nothing came or went for too long. `duration`: the stream is older than one may be. */
export type PerTryTimeout = 'whole' | 'idle' | 'duration';

/** A host that says so is not asked again before it passes its checks. */
const IMMEDIATE_FAIL = 'x-envoy-immediate-health-check-fail';
const TIMERS = ['whole', 'idle', 'duration'] as const satisfies readonly PerTryTimeout[];
const TIMER_WHOLE = 0;
const TIMER_IDLE = 1;
const TIMER_DURATION = 2;

export interface AttemptOptions {
  readonly endStream: boolean;
  readonly bufferLimitBytes: number;
  readonly loop: WorkerLoop;
  readonly timeouts: RequestTimeouts;
  /** From the moment that there is a connection; 0: none. */
  readonly maxDurationMs: number;
  readonly log: UpstreamAttemptLog | undefined;
  readonly figures: AttemptStats | undefined;
}

const NOTHING = Buffer.alloc(0);

/** Whether what follows the request's head is another protocol, once the host agrees. */
function leavesHttp(headers: HeaderMap): boolean {
  return headers.method === 'CONNECT' || headers.has('upgrade');
}

export class UpstreamRequest implements PoolClient, TimerOwner {
  readonly host: UpstreamHost;
  readonly log: UpstreamAttemptLog | undefined;
  /** False while the request waits, and when a limit refused it before the host was involved. */
  hasTriedHost = false;
  isAwaitingHeaders = true;
  /** Another try was begun beside this one. */
  isRetried = false;
  private readonly owner: UpstreamRequestOwner;
  private readonly pool: StreamSource;
  private readonly headers: HeaderMap;
  private readonly bufferLimitBytes: number;
  private encoder: RequestEncoder | undefined = undefined;
  connection: UpstreamConnectionInfo | undefined = undefined;
  /** Set once the whole request is known. */
  private sawEnd: boolean;
  private pendingBody: Buffer[] = [];
  private pendingBytes = 0;
  private pendingTrailers: HeaderMap | undefined = undefined;
  private isBodyPaused = false;
  private isWritePaused = false;
  private isOver = false;
  private readonly options: AttemptOptions;
  /**
   * The body is no part of HTTP, and the host has not agreed to that: until it does it would read
   * the body as further requests.
   */
  private awaitsAgreement = false;
  private wholeTimer: LoopTimer | undefined = undefined;
  private idleTimer: LoopTimer | undefined = undefined;
  private durationTimer: LoopTimer | undefined = undefined;

  constructor(
    owner: UpstreamRequestOwner,
    target: { readonly host: UpstreamHost; readonly pool: StreamSource },
    headers: HeaderMap,
    options: AttemptOptions,
  ) {
    this.owner = owner;
    this.host = target.host;
    this.pool = target.pool;
    this.headers = headers;
    this.sawEnd = options.endStream;
    this.bufferLimitBytes = options.bufferLimitBytes;
    this.log = options.log;
    this.options = options;
    this.awaitsAgreement = !options.endStream && leavesHttp(headers);
  }

  start(): void {
    this.pool.newStream(this);
  }

  /** The whole request has come and there is a connection: the try's time begins. */
  startTimers(): void {
    const { loop, timeouts } = this.options;
    const { timers } = loop;
    if (this.isOver || this.encoder === undefined) return;
    if (timeouts.perTryMs > 0 && this.wholeTimer === undefined) {
      this.wholeTimer = new LoopTimer(this, TIMER_WHOLE);
      timers.list(timeouts.perTryMs).arm(this.wholeTimer);
    }
    if (timeouts.perTryIdleMs > 0 && this.idleTimer === undefined) {
      this.idleTimer = new LoopTimer(this, TIMER_IDLE);
      timers.list(timeouts.perTryIdleMs).arm(this.idleTimer);
    }
  }

  onException(): void {
    this.owner.onException();
  }

  onTimer(kind: number): void {
    if (!this.isOver) this.owner.onPerTryTimeout(this, TIMERS[kind] ?? 'whole');
  }

  sendData(data: Buffer, endStream: boolean): void {
    if (this.isOver) return;
    if (endStream) this.sawEnd = true;
    this.log?.sent(data.length);
    this.options.figures?.sent(data.length);
    if (this.encoder !== undefined && !this.awaitsAgreement) {
      this.encoder.encodeData(data, endStream);
      return;
    }
    const isRefused = this.awaitsAgreement && !this.isAwaitingHeaders;
    if (data.length === 0 || isRefused) return;
    this.pendingBody.push(Buffer.from(data));
    const { held } = this.options.loop;
    this.pendingBytes += data.length;
    held.add(data.length);
    if ((this.pendingBytes >= this.bufferLimitBytes || held.isTight) && !this.isBodyPaused) {
      this.isBodyPaused = true;
      this.owner.pauseRequest(true);
    }
  }

  sendTrailers(trailers: HeaderMap): void {
    if (this.isOver) return;
    this.sawEnd = true;
    if (this.encoder === undefined || this.awaitsAgreement) this.pendingTrailers = trailers;
    else this.encoder.encodeTrailers(trailers);
  }

  /** Gives the try up; the owner hears nothing more of it. */
  cancel(): void {
    if (this.isOver) return;
    this.end();
    if (this.encoder === undefined) this.pool.cancel(this);
    else this.encoder.resetStream();
  }

  pauseResponse(paused: boolean): void {
    if (!this.isOver) this.encoder?.pauseResponse(paused);
  }

  onPoolReady(encoder: RequestEncoder, connection: UpstreamConnectionInfo): void {
    this.options.loop.current = this.owner;
    this.encoder = encoder;
    this.connection = connection;
    this.hasTriedHost = true;
    this.owner.onHostTried(this);
    this.owner.onUpstreamConnected(this, connection);
    this.startDurationTimer();
    const hasMore = this.pendingBody.length > 0 || this.pendingTrailers !== undefined;
    const isWhole = this.sawEnd && !hasMore && !this.awaitsAgreement;
    const { awaitsAgreement } = this;
    const fault = encoder.encodeHeaders(this.headers, isWhole);
    if (fault !== undefined) {
      this.end();
      this.owner.onRequestRefused(this, fault);
    } else if (!isWhole && !awaitsAgreement) this.sendPending(encoder, hasMore);
  }

  private sendPending(encoder: RequestEncoder, hasMore: boolean): void {
    const { pendingBody, pendingTrailers } = this;
    const isWhole = this.sawEnd && pendingTrailers === undefined;
    this.letBodyGo();
    for (const [position, piece] of pendingBody.entries()) {
      // The codec may have found the body to be another than the head says.
      if (this.isOver) return;
      encoder.encodeData(piece, isWhole && position === pendingBody.length - 1);
    }
    if (this.isOver) return;
    if (pendingTrailers !== undefined) encoder.encodeTrailers(pendingTrailers);
    else if (isWhole && !hasMore) encoder.encodeData(NOTHING, true);
    this.releaseBody();
  }

  private releaseBody(): void {
    if (!this.isBodyPaused) return;
    this.isBodyPaused = false;
    this.owner.pauseRequest(false);
  }

  onPoolFailure(reason: ResetReason, detail: string, triedHost: boolean): void {
    this.options.loop.current = this.owner;
    this.hasTriedHost = triedHost;
    if (triedHost) this.owner.onHostTried(this);
    this.onOver(reason, detail);
  }

  decode1xx(headers: HeaderMap): void {
    this.options.loop.current = this.owner;
    this.owner.onUpstream1xx(headers);
  }

  decodeHeaders(headers: HeaderMap, endStream: boolean): void {
    this.options.loop.current = this.owner;
    this.isAwaitingHeaders = false;
    if (this.awaitsAgreement) this.onAgreement(headers.status, endStream);
    if (this.host.home?.isChecked === true && headers.has(IMMEDIATE_FAIL)) {
      this.host.home.failPassively(this.host);
    }
    this.options.figures?.responded(headers, this.connection?.isAnswerChunked === true);
    this.wholeTimer?.disarm();
    this.restartIdleTimer();
    if (endStream) this.end();
    this.owner.onUpstreamHeaders(this, headers, endStream);
  }

  /** A host that does not agree never sees the body: the response is all that there is. */
  private onAgreement(status: number, endStream: boolean): void {
    const isSuccess = status >= 200 && status < 300;
    const isAgreed = this.headers.method === 'CONNECT' ? isSuccess : status === 101;
    const { encoder } = this;
    if (!isAgreed || endStream || encoder === undefined) {
      this.letBodyGo();
      this.releaseBody();
      return;
    }
    this.awaitsAgreement = false;
    this.sendPending(encoder, this.pendingBody.length > 0);
  }

  decodeData(data: Buffer, endStream: boolean): void {
    this.options.loop.current = this.owner;
    // What a filter cancelled from within the same read may still bring the rest of it.
    if (this.isOver) return;
    this.restartIdleTimer();
    this.options.figures?.received(data.length);
    if (endStream) this.end();
    this.owner.onUpstreamData(this, data, endStream);
  }

  decodeTrailers(trailers: HeaderMap): void {
    this.options.loop.current = this.owner;
    if (this.isOver) return;
    this.end();
    this.owner.onUpstreamTrailers(this, trailers);
  }

  onReset(reason: ResetReason): void {
    this.options.loop.current = this.owner;
    this.onOver(reason, '');
  }

  onWriteBlocked(blocked: boolean): void {
    if (this.isOver || this.isWritePaused === blocked) return;
    this.isWritePaused = blocked;
    this.owner.pauseRequest(blocked);
  }

  private onOver(reason: ResetReason, detail: string): void {
    if (this.isOver) return;
    this.end();
    this.owner.onUpstreamReset(this, reason, detail);
  }

  private startDurationTimer(): void {
    const { maxDurationMs, loop } = this.options;
    if (maxDurationMs <= 0) return;
    this.durationTimer = new LoopTimer(this, TIMER_DURATION);
    loop.timers.list(maxDurationMs).arm(this.durationTimer);
  }

  private restartIdleTimer(): void {
    const { loop, timeouts } = this.options;
    const { timers } = loop;
    if (this.idleTimer !== undefined) timers.list(timeouts.perTryIdleMs).arm(this.idleTimer);
  }

  private letBodyGo(): void {
    this.options.loop.held.add(-this.pendingBytes);
    this.pendingBody = [];
    this.pendingBytes = 0;
  }

  private end(): void {
    this.isOver = true;
    this.options.figures?.ended(this.headers);
    this.wholeTimer?.disarm();
    this.idleTimer?.disarm();
    this.durationTimer?.disarm();
    this.letBodyGo();
    if (this.isBodyPaused) this.owner.pauseRequest(false);
    if (this.isWritePaused) this.owner.pauseRequest(false);
    this.isBodyPaused = false;
    this.isWritePaused = false;
  }
}
