/** Notes what each request to a host came to, in the counts that all workers share. */
import { OUTLIER_SLOT, type OutlierPage } from '../../../shared/limits/outlier-page.ts';
import type {
  ConsecutiveKind,
  OutlierSign,
  OutlierThresholds,
} from '../../../shared/resources/clusters/outlier-detection.ts';
import { readInteger } from '../../../shared/runtime/read-runtime.ts';
import type { Runtime } from '../../loop/runtime.ts';

export interface OutlierMonitorParts {
  readonly page: OutlierPage;
  /** The host's slot. */
  readonly slot: number;
  readonly thresholds: OutlierThresholds;
  readonly runtime: Pick<Runtime, 'snapshot'>;
  /** A threshold of failures in a row is reached, or the host says that it is degraded. */
  readonly report: (sign: OutlierSign) => void;
}

/** What becomes of a connection that carries no messages, in terms of statuses. */
const ESTABLISHED = 200;
const REFUSED = -503;
const TIMED_OUT = -504;

export class OutlierMonitor {
  readonly #page: OutlierPage;
  readonly #slot: number;
  readonly #thresholds: OutlierThresholds;
  readonly #runtime: OutlierMonitorParts['runtime'];
  readonly #report: OutlierMonitorParts['report'];

  constructor({ page, slot, thresholds, runtime, report }: OutlierMonitorParts) {
    this.#page = page;
    this.#slot = slot;
    this.#thresholds = thresholds;
    this.#runtime = runtime;
    this.#report = report;
  }

  /** A request has its connection, whatever comes of it. */
  connected(): void {
    if (!this.#thresholds.splitsErrors) return;
    this.#page.add(this.#slot, OUTLIER_SLOT.localTotal);
    this.#page.add(this.#slot, OUTLIER_SLOT.localSuccess);
    this.#page.clear(this.#slot, OUTLIER_SLOT.consecutive_local_origin_failure);
  }

  /** A connection stands, and nothing that it carries says more of the host. */
  established(): void {
    if (this.#thresholds.splitsErrors) this.connected();
    else this.note(ESTABLISHED);
  }

  /** A connection did not come about. */
  connectFailed(isTimeout: boolean): void {
    this.note(isTimeout ? TIMED_OUT : REFUSED);
  }

  /** A good answer said that its host is degraded. */
  degraded(): void {
    if (this.#thresholds.detectsDegraded) this.#report('degraded');
  }

  /** `status` is the host's answer; negative: what this side answers for want of one. */
  note(status: number): void {
    const page = this.#page;
    const slot = this.#slot;
    if (status < 0 && this.#thresholds.splitsErrors) {
      page.add(slot, OUTLIER_SLOT.localTotal);
      this.#count('consecutive_local_origin_failure');
      return;
    }
    const code = Math.abs(status);
    page.add(slot, OUTLIER_SLOT.total);
    if (code >= 502 && code <= 504) this.#count('consecutive_gateway_failure');
    else page.clear(slot, OUTLIER_SLOT.consecutive_gateway_failure);
    if (code >= 500) {
      this.#count('consecutive_5xx');
    } else {
      page.clear(slot, OUTLIER_SLOT.consecutive_5xx);
      page.add(slot, OUTLIER_SLOT.success);
    }
  }

  /** Exactly one worker sees the count reach its threshold. */
  #count(kind: ConsecutiveKind): void {
    const count = this.#page.add(this.#slot, OUTLIER_SLOT[kind]) + 1;
    const { snapshot } = this.#runtime;
    const configured = this.#thresholds.consecutive[kind];
    if (count !== readInteger(snapshot, `outlier_detection.${kind}`, configured)) return;
    this.#page.clear(this.#slot, OUTLIER_SLOT[kind]);
    this.#report(kind);
  }
}
