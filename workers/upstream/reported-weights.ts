/**
 * Hosts in turn by weights that follow from what they report of their load: the more requests a host
 * answers for the use it makes of itself, the more it gets. Each worker knows the answers that it saw.
 */
import type { LoadReportOptions } from '../../shared/resources/lb-policy.ts';
import type { UpstreamHost } from './host.ts';
import type { HostPicker } from './load-balancer.ts';
import type { LoadReport } from './load-report.ts';

/** What one host reported. */
export class ReportedLoad {
  readonly #options: LoadReportOptions;
  #weight = 0;
  /** Since when there are reports without a gap, and the last of them. */
  #sinceMs = 0;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(options: LoadReportOptions) {
    this.#options = options;
  }

  note({ requests, errors, utilization }: LoadReport, nowMs: number): void {
    if (requests <= 0 || utilization <= 0) return;
    const penalty = (errors / requests) * this.#options.errorPenalty;
    const weight = Math.floor(requests / (utilization + Math.max(0, penalty)));
    if (weight < 1) return;
    if (nowMs - this.#lastMs >= this.#options.expirationMs) this.#sinceMs = nowMs;
    this.#weight = weight;
    this.#lastMs = nowMs;
  }

  /** Undefined: there is none yet, or none any more. */
  weightAt(nowMs: number): number | undefined {
    const { blackoutMs, expirationMs } = this.#options;
    if (nowMs - this.#lastMs >= expirationMs || nowMs - this.#sinceMs < blackoutMs)
      return undefined;
    return this.#weight;
  }
}

export interface ReportedWeightsParts {
  readonly options: LoadReportOptions;
  readonly nowMs: () => number;
  /** Takes turns by these weights, in the order of the hosts. */
  readonly makePicker: (hosts: readonly UpstreamHost[], weights: readonly number[]) => HostPicker;
}

export class ReportedWeightsPicker implements HostPicker {
  readonly #hosts: readonly UpstreamHost[];
  readonly #parts: ReportedWeightsParts;
  #weights: readonly number[];
  #picker: HostPicker;
  #dueMs: number;

  constructor(hosts: readonly UpstreamHost[], parts: ReportedWeightsParts) {
    this.#hosts = hosts;
    this.#parts = parts;
    this.#weights = weightsOf(hosts, parts.nowMs());
    this.#picker = parts.makePicker(hosts, this.#weights);
    this.#dueMs = parts.nowMs() + parts.options.updateMs;
  }

  pick(): UpstreamHost | undefined {
    const nowMs = this.#parts.nowMs();
    if (nowMs >= this.#dueMs) this.#update(nowMs);
    return this.#picker.pick();
  }

  #update(nowMs: number): void {
    this.#dueMs = nowMs + this.#parts.options.updateMs;
    const weights = weightsOf(this.#hosts, nowMs);
    if (weights.every((weight, at) => weight === this.#weights[at])) return;
    this.#weights = weights;
    this.#picker = this.#parts.makePicker(this.#hosts, weights);
  }
}

/** Hosts without a weight of their own get the median of the others; without any, all are alike. */
function weightsOf(hosts: readonly UpstreamHost[], nowMs: number): readonly number[] {
  const reported = hosts.map(({ reportedLoad }) => reportedLoad?.weightAt(nowMs));
  const known = reported.filter((weight) => weight !== undefined).toSorted((a, b) => a - b);
  const middle = known.length >> 1;
  const upper = known[middle] ?? 1;
  const isEven = known.length > 0 && known.length % 2 === 0;
  const median = isEven ? Math.floor(((known[middle - 1] ?? upper) + upper) / 2) : upper;
  return reported.map((weight) => weight ?? median);
}
