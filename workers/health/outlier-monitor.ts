/** Notes what each request to a host came to, in the counts that all workers share. */
import { OUTLIER_SLOT, type OutlierPage } from '../../shared/limits/outlier-page.ts';
import type {
  ConsecutiveKind,
  OutlierThresholds,
} from '../../shared/resources/outlier-detection.ts';

export class OutlierMonitor {
  readonly #page: OutlierPage;
  readonly #slot: number;
  readonly #thresholds: OutlierThresholds;
  readonly #report: (kind: ConsecutiveKind) => void;

  constructor(
    page: OutlierPage,
    slot: number,
    thresholds: OutlierThresholds,
    report: (kind: ConsecutiveKind) => void,
  ) {
    this.#page = page;
    this.#slot = slot;
    this.#thresholds = thresholds;
    this.#report = report;
  }

  /** `status` is the host's answer; negative: what this side answers for want of one. */
  note(status: number): void {
    const page = this.#page;
    const slot = this.#slot;
    if (this.#thresholds.splitsErrors) {
      page.add(slot, OUTLIER_SLOT.localTotal);
      if (status < 0) {
        this.#count('consecutive_local_origin_failure');
        return;
      }
      page.add(slot, OUTLIER_SLOT.localSuccess);
      page.clear(slot, OUTLIER_SLOT.consecutive_local_origin_failure);
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
    if (count !== this.#thresholds.consecutive[kind]) return;
    this.#page.clear(this.#slot, OUTLIER_SLOT[kind]);
    this.#report(kind);
  }
}
