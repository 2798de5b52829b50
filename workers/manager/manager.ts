/**
 * One HTTP connection manager, compiled from its resource: what its connections and streams share.
 * Holds no state of any connection but their number.
 */
import type { WantedRoutes } from '../../shared/resources/routes/wanted-routes.ts';
import type { ScaledTimeout } from '../../shared/resources/overload.ts';
import type { HttpConnectionManager } from '../../shared/resources/listener.ts';
import type { AccessLog } from '../access-log/types.ts';
import type { RouteTable } from '../stream/route.ts';
import type { TimerList } from '../loop/timers.ts';
import { withJitter, type ArmedTimeout } from './jitter.ts';
import type { ServerCodecFactory } from '../stream/codec.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { OverloadGate } from '../loop/overload-gate.ts';
import type { RequestTracer } from '../stream/request-trace.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { FilterFactory, TerminalFilterFactory } from '../stream/filter.ts';
import type { LocalReplyRewriter } from '../filter-chain/local-reply.ts';
import type { ManagerLedger } from './manager-ledger.ts';
import type { ManagerStats } from './manager-stats.ts';
import type { HeaderPolicy } from './types.ts';

/** Where the routes come from: inline ones never change, named ones may come and go. */
export interface RouteSource {
  /** For a request; undefined where there are none for it: no route matches. */
  tableFor(headers: HeaderMap): RouteTable | undefined;
  /** What a request that finds no route may ask for; absent: nothing. */
  missingFor?(headers: HeaderMap): WantedRoutes | undefined;
}

/** What the worker has decided about closing connections. */
export interface DrainControl {
  /** Asked once per response: whether its connection closes with it. */
  shouldClose(): boolean;
  /** `/healthcheck/fail` is in force: answers say so. */
  readonly isHealthCheckFailed: boolean;
}

export interface ManagerParts {
  readonly loop: WorkerLoop;
  /** What its connections speak. */
  readonly makeCodec: ServerCodecFactory;
  readonly stats: ManagerStats;
  /** Where its requests are counted. */
  readonly ledger: ManagerLedger;
  readonly policy: HeaderPolicy;
  readonly accessLogs: readonly AccessLog[];
  readonly rewriteLocalReply: LocalReplyRewriter | undefined;
  readonly routes: RouteSource;
  /** Those before the terminal one; asked for at each request. */
  readonly filters: () => readonly FilterFactory[];
  readonly terminal: TerminalFilterFactory;
  readonly drain: DrainControl;
  /** Undefined: requests are not traced. */
  readonly tracing: RequestTracer | undefined;
  readonly overload: OverloadGate;
  /** Bytes per connection and stream that may wait; the listener's. */
  readonly bufferLimitBytes: number;
}

export class ConnectionManager {
  readonly config: HttpConnectionManager;
  readonly parts: ManagerParts;
  /** Where its requests are counted. */
  readonly ledger: ManagerLedger;
  /** Lists of the configured timeouts; undefined means disabled. */
  readonly idle: TimerList | undefined;
  readonly streamIdle: TimerList | undefined;
  readonly request: TimerList | undefined;
  readonly requestHeaders: TimerList | undefined;
  readonly maxStreamDuration: TimerList | undefined;
  readonly maxConnectionDuration: ArmedTimeout | undefined;
  readonly delayedClose: TimerList | undefined;
  readonly drain: ArmedTimeout | undefined;
  readonly logInterval: TimerList | undefined;

  constructor(config: HttpConnectionManager, parts: ManagerParts) {
    const list = (delayMs: number): TimerList | undefined =>
      delayMs > 0 ? parts.loop.timers.list(delayMs) : undefined;
    this.config = config;
    this.parts = parts;
    this.ledger = parts.ledger;
    const { overload } = parts;
    const scaled = (timeout: ScaledTimeout, delayMs: number): TimerList | undefined =>
      delayMs > 0 ? overload.timeouts(timeout, delayMs) : undefined;
    this.idle = scaled('connection_idle', config.idleTimeoutMs);
    this.streamIdle = scaled('stream_idle', config.streamIdleTimeoutMs);
    this.request = list(config.requestTimeoutMs);
    this.requestHeaders = list(config.requestHeadersTimeoutMs);
    this.maxStreamDuration = list(config.maxStreamDurationMs);
    this.maxConnectionDuration = withJitter(
      config.maxConnectionDurationMs,
      config.maxConnectionDurationJitter,
      (delayMs) => scaled('connection_max', delayMs),
    );
    this.delayedClose = list(config.delayedCloseTimeoutMs);
    this.drain = withJitter(config.drainTimeoutMs, config.drainTimeoutJitter, list);
    this.logInterval = list(config.logMoments?.intervalMs ?? 0);
  }
}
