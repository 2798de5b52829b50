/**
 * The connection manager's ledger: what each request adds to `http.<prefix>.downstream_rq_*` and to
 * the listener's view of the same answers, from its first byte to its end. Why a request's head was
 * refused is counted by the check that refused it.
 */
import { HTTP_CONNECTION_MANAGER } from '../../shared/stats/templates/http-connection-manager.ts';
import type { RequestLedger } from '../stream/request-ledger.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import type { LastRefusals } from './last-refusals.ts';
import type { ManagerStats } from './manager-stats.ts';

const { index } = HTTP_CONNECTION_MANAGER;
const RQ_TOTAL = index.downstream_rq_total;
const RQ_ACTIVE = index.downstream_rq_active;
const RQ_TIME = index.downstream_rq_time;
const RQ_RX_RESET = index.downstream_rq_rx_reset;
const RQ_TX_RESET = index.downstream_rq_tx_reset;
const RQ_BEFORE_COMPLETE = index.downstream_rq_response_before_rq_complete;
const FLOW_PAUSED = index.downstream_flow_control_paused_reading_total;
const FLOW_RESUMED = index.downstream_flow_control_resumed_reading_total;
const CX_UPGRADES_TOTAL = index.downstream_cx_upgrades_total;
const CX_UPGRADES_ACTIVE = index.downstream_cx_upgrades_active;

const TIMEOUTS = {
  idle: index.downstream_rq_idle_timeout,
  request: index.downstream_rq_timeout,
  headers: index.downstream_rq_header_timeout,
  duration: index.downstream_rq_max_duration_reached,
} as const;
const LOCAL_ANSWERS = {
  request_too_large: index.downstream_rq_too_large,
  response_too_large: index.rs_too_large,
  upgrade_refused: index.downstream_rq_ws_on_non_ws_route,
} as const;

export type StreamTimeoutKind = keyof typeof TIMEOUTS;

export class ManagerLedger implements RequestLedger<StreamInfo> {
  readonly #stats: ManagerStats;
  readonly #refusals: Pick<LastRefusals, 'note'>;

  constructor(stats: ManagerStats, refusals: Pick<LastRefusals, 'note'>) {
    this.#stats = stats;
    this.#refusals = refusals;
  }

  routed(): void {
    this.#stats.count(RQ_TOTAL);
    this.#stats.raise(RQ_ACTIVE);
  }

  /** The response that the client gets; health checks count apart, whatever their answer is. */
  answered(info: StreamInfo, status: number): void {
    if (info.isHealthCheck) {
      this.#stats.countHealthCheck();
      return;
    }
    this.#stats.chargeResponse(status);
    if (status >= 400 && status < 500) this.#refusals.note(info, status);
  }

  informational(status: number): void {
    this.#stats.chargeResponse(status);
  }

  /** The response began before the request was complete. */
  answeredEarly(): void {
    this.#stats.count(RQ_BEFORE_COMPLETE);
  }

  /** Why a stream's answer is one that is made here. */
  answeredHere(why: keyof typeof LOCAL_ANSWERS): void {
    this.#stats.count(LOCAL_ANSWERS[why]);
  }

  /** METADATA stays here: the client's protocol has none. */
  unsupportedMetadata({ protocol }: StreamInfo): void {
    this.#stats.countUnsupportedMetadata(protocol);
  }

  timedOut(kind: StreamTimeoutKind): void {
    this.#stats.count(TIMEOUTS[kind]);
  }

  /** The client broke it off, or its connection did. */
  reset(): void {
    this.#stats.count(RQ_RX_RESET);
  }

  /** It was broken off here. */
  resetHere(): void {
    this.#stats.count(RQ_TX_RESET);
    this.#stats.count(RQ_RX_RESET);
  }

  /** The request's body waits for its receiver, or goes on. */
  requestPaused(paused: boolean): void {
    this.#stats.count(paused ? FLOW_PAUSED : FLOW_RESUMED);
  }

  upgraded(): void {
    this.#stats.count(CX_UPGRADES_TOTAL);
    this.#stats.raise(CX_UPGRADES_ACTIVE);
  }

  upgradeEnded(): void {
    this.#stats.lower(CX_UPGRADES_ACTIVE);
  }

  ended(info: StreamInfo, tookMs: number): void {
    this.#stats.lower(RQ_ACTIVE);
    if (tookMs < 0) return;
    const value = Math.round(tookMs);
    this.#stats.record(RQ_TIME, value);
    if (info.trace !== undefined) this.#stats.exemplify(value, info);
  }
}
