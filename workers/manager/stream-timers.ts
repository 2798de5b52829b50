/**
 * The timeouts of one stream. Only configured ones exist; each ends the stream in its own words.
 */
import type { Endable } from '../../shared/process/exceptions.ts';
import { streamDurationMs } from '../routing/timeouts.ts';
import type { ResolvedRoute } from '../stream/route.ts';
import { LoopTimer, type TimerList, type TimerOwner } from '../loop/timers.ts';
import type { LocalReply } from '../stream/filter.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { ResponseFlag } from '../stream/response-flags.ts';
import type { ConnectionManager } from './manager.ts';
import type { StreamTimeoutKind } from './manager-ledger.ts';

export interface StreamTimeout {
  /** The status says 408 while the client still owes a part of its request, else 504. */
  readonly reply: Omit<LocalReply, 'status'>;
  readonly kind: StreamTimeoutKind;
  /** Bit of `ResponseFlag`, 0 for none. */
  readonly flag: number;
}

export interface TimedStream extends Endable {
  /** Time for a log line in between. */
  logMoment(type: 'DownstreamPeriodic'): void;
  onTimeout(timeout: StreamTimeout): void;
}

const IDLE = 0;
const REQUEST = 1;
const HEADERS = 2;
const DURATION = 3;
const LOG = 4;

/** The code of gRPC. */
const DEADLINE_EXCEEDED = 4;

const timeouts: readonly StreamTimeout[] = [
  {
    reply: { body: 'stream timeout', details: 'stream_idle_timeout' },
    kind: 'idle',
    flag: ResponseFlag.streamIdleTimeout,
  },
  {
    reply: { body: 'request timeout', details: 'request_overall_timeout' },
    kind: 'request',
    flag: 0,
  },
  {
    reply: { body: 'request header timeout', details: 'request_header_timeout' },
    kind: 'headers',
    flag: 0,
  },
  {
    reply: {
      body: 'downstream duration timeout',
      details: 'max_duration_timeout',
      grpcStatus: DEADLINE_EXCEEDED,
    },
    kind: 'duration',
    flag: 0,
  },
];

export class StreamTimers implements TimerOwner {
  readonly #stream: TimedStream;
  readonly #manager: ConnectionManager;
  #idleList: TimerList | undefined;
  #idle: LoopTimer | undefined = undefined;
  #request: LoopTimer | undefined = undefined;
  #headers: LoopTimer | undefined = undefined;
  #duration: LoopTimer | undefined = undefined;
  #log: LoopTimer | undefined = undefined;

  constructor(stream: TimedStream, manager: ConnectionManager) {
    this.#stream = stream;
    this.#manager = manager;
    this.#idleList = manager.streamIdle;
    if (manager.streamIdle !== undefined) {
      this.#idle = new LoopTimer(this, IDLE);
      manager.streamIdle.arm(this.#idle);
    }
    if (manager.request !== undefined) {
      this.#request = new LoopTimer(this, REQUEST);
      manager.request.arm(this.#request);
    }
    if (manager.requestHeaders !== undefined) {
      this.#headers = new LoopTimer(this, HEADERS);
      manager.requestHeaders.arm(this.#headers);
    }
    if (manager.logInterval !== undefined) {
      this.#log = new LoopTimer(this, LOG);
      manager.logInterval.arm(this.#log);
    }
    if (manager.maxStreamDuration !== undefined) {
      this.#duration = new LoopTimer(this, DURATION);
      manager.maxStreamDuration.arm(this.#duration);
    }
  }

  onRequestHeaders(): void {
    this.#headers?.disarm();
    this.onActivity();
  }

  onRequestComplete(): void {
    this.#request?.disarm();
  }

  /** The route's own timeouts replace the connection manager's. */
  onRoute(route: ResolvedRoute | undefined, headers: HeaderMap): void {
    if (route?.kind !== 'cluster') return;
    const { idleTimeoutMs } = route.action;
    if (idleTimeoutMs !== undefined) {
      this.#idle?.disarm();
      const { overload } = this.#manager.parts;
      this.#idleList =
        idleTimeoutMs > 0 ? overload.timeouts('stream_idle', idleTimeoutMs) : undefined;
      if (this.#idleList !== undefined) this.#idle ??= new LoopTimer(this, IDLE);
      this.onActivity();
    }
    const durationMs = streamDurationMs(route, headers);
    if (durationMs === undefined) return;
    this.#duration?.disarm();
    const durationList = this.#list(durationMs);
    if (durationList === undefined) return;
    this.#duration ??= new LoopTimer(this, DURATION);
    durationList.arm(this.#duration);
  }

  onActivity(): void {
    if (this.#idle !== undefined) this.#idleList?.arm(this.#idle);
  }

  end(): void {
    this.#idle?.disarm();
    this.#request?.disarm();
    this.#headers?.disarm();
    this.#duration?.disarm();
    this.#log?.disarm();
    this.#idleList = undefined;
  }

  onException(): void {
    this.#stream.onException();
  }

  onTimer(kind: number): void {
    if (kind === LOG) {
      if (this.#log !== undefined) this.#manager.logInterval?.arm(this.#log);
      this.#stream.logMoment('DownstreamPeriodic');
      return;
    }
    const timeout = timeouts[kind];
    if (timeout !== undefined) this.#stream.onTimeout(timeout);
  }

  #list(delayMs: number): TimerList | undefined {
    return delayMs > 0 ? this.#manager.parts.loop.timers.list(delayMs) : undefined;
  }
}
