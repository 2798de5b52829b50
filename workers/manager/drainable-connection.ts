/**
 * How a downstream HTTP connection is brought to its end while it still serves: which answer says
 * goodbye, what a drain, an overload or a limit of requests asks for, and for how long.
 */
import { HTTP_CONNECTION_MANAGER } from '../../shared/stats/templates/http-connection-manager.ts';
import { LoopTimer, type TimerOwner } from '../loop/timers.ts';
import type { ServerCodec } from '../stream/codec.ts';
import type { ProtocolTraits } from '../stream/protocol-traits.ts';
import type { ConnectionManager } from './manager.ts';

const index = HTTP_CONNECTION_MANAGER.index;
const CX_OVERLOAD_DISABLE_KEEPALIVE = index.downstream_cx_overload_disable_keepalive;
const CX_MAX_REQUESTS = index.downstream_cx_max_requests_reached;
const CX_DRAIN_CLOSE = index.downstream_cx_drain_close;

/** The kind of the drain's timer; those of the connection's others follow. */
export const TIMER_DRAIN = 0;

export abstract class DrainableConnection implements TimerOwner {
  readonly manager: ConnectionManager;
  protected requests = 0;
  /** The protocol that the connection is counted for. */
  protected traits: ProtocolTraits | undefined = undefined;
  protected isEndingSafely = false;
  protected abstract codec: ServerCodec;
  protected readonly drainTimer = new LoopTimer(this, TIMER_DRAIN);
  #isDraining = false;

  protected constructor(manager: ConnectionManager) {
    this.manager = manager;
  }

  abstract close(): void;
  abstract onTimer(kind: number): void;
  abstract onException(): void;

  /** Called by a stream with its response's headers in hand: decides whether they say goodbye. */
  beforeResponse(): void {
    const { stats, drain, overload } = this.manager.parts;
    const isMultiplexed = this.traits?.isMultiplexed === true;
    if (!isMultiplexed && this.hasServedEnough(this.#isDraining)) {
      this.startDrain(true);
    } else if (!this.#isDraining && overload.endsKeepalive()) {
      stats.count(CX_OVERLOAD_DISABLE_KEEPALIVE);
      stats.count(CX_DRAIN_CLOSE);
      if (isMultiplexed) this.announceDrain();
      else this.startDrain();
    } else if (!this.#isDraining && drain.shouldClose()) {
      stats.count(CX_DRAIN_CLOSE);
      this.announceDrain();
    }
  }

  /** True after as many requests as a connection may have; counted unless it `isKnown`. */
  protected hasServedEnough(isKnown = false): boolean {
    const { maxRequestsPerConnection } = this.manager.config;
    if (maxRequestsPerConnection === 0 || this.requests < maxRequestsPerConnection) return false;
    if (!isKnown) this.manager.parts.stats.count(CX_MAX_REQUESTS);
    return true;
  }

  /** The present answer ends the connection, where one can. */
  endWithAnswer(): void {
    if (this.traits?.isMultiplexed !== true) this.startDrain();
  }

  /** The present exchange is the connection's last. */
  protected startDrain(isOurs = false): void {
    this.#isDraining = true;
    this.codec.startDrain(isOurs);
  }

  /**
   * The connection's time is over. A request may be on its way: it is still answered, with a
   * goodbye, unless none comes within the drain timeout. A connection that never asked anything
   * just closes.
   */
  protected endSoon(): void {
    const { drain } = this.manager;
    if (this.traits?.isMultiplexed === true) {
      this.announceDrain();
      return;
    }
    if (this.requests === 0 || (drain === undefined && this.codec.openStreams === 0)) {
      this.close();
      return;
    }
    this.startDrain();
    drain?.arm(this.drainTimer);
  }

  /** An operator asks: the next answer says goodbye, or the time of a drain passes without one. */
  closeGracefully(): void {
    const { stats } = this.manager.parts;
    if (this.#isDraining) return;
    stats.count(CX_DRAIN_CLOSE);
    if (this.traits === undefined) return this.close();
    if (this.traits.isMultiplexed) return this.announceDrain();
    this.startDrain();
    const { drain } = this.manager;
    if (drain !== undefined) drain.arm(this.drainTimer);
    else if (this.codec.openStreams === 0) this.onTimer(TIMER_DRAIN);
  }

  /** The next request is the last: one that may be on its way is answered, whenever it comes. */
  protected endSafely(): void {
    const softDrain = this.traits?.softDrain;
    if (this.isEndingSafely) return;
    if (softDrain === undefined) {
      this.endSoon();
      return;
    }
    this.isEndingSafely = true;
    this.manager.parts.stats.raise(softDrain);
  }

  /**
   * The client is asked to close, which leaves it the choice of the moment, up to the drain
   * timeout.
   */
  announceDrain(): void {
    const { drain } = this.manager;
    if (this.#isDraining) return;
    if (drain === undefined && this.traits?.isMultiplexed !== true) {
      this.startDrain();
      return;
    }
    this.#isDraining = true;
    this.codec.announceClose();
    if (drain === undefined) this.onTimer(TIMER_DRAIN);
    else drain.arm(this.drainTimer);
  }
}
