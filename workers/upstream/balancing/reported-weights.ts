/**
 * Hosts in turn by weights that follow from what they report of their load: the more requests a
 * host answers for the use it makes of itself, the more it gets. Each worker knows the answers that
 * it saw.
 */
import {
  medianOf,
  type ReportedWeight,
  weightAt,
} from '../../../shared/resources/clusters/reported-weights.ts';
import type { LoadReportOptions } from '../../../shared/resources/clusters/lb-policy.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { HostPicker } from './load-balancer.ts';
import { type LoadReport, utilizationOf } from '../load-reports/load-report.ts';

const WEIGHT_MAX = 2 ** 32 - 1;

/** What one host reported. */
export class ReportedLoad {
  readonly #options: LoadReportOptions;
  /** Undefined: nothing that says a weight. */
  last: ReportedWeight | undefined = undefined;

  constructor(options: LoadReportOptions) {
    this.#options = options;
  }

  note(report: LoadReport, nowMs: number): void {
    const requests = report.get('rps_fractional') ?? 0;
    if (requests <= 0) return;
    const { errorPenalty, metricNames, expirationMs } = this.#options;
    const penalty = ((report.get('eps') ?? 0) / requests) * errorPenalty;
    const utilization = utilizationOf(report, metricNames) + penalty;
    if (utilization <= 0) return;
    const weight = Math.min(WEIGHT_MAX, Math.max(1, Math.floor(requests / utilization)));
    const { sinceMs, lastMs } = this.last ?? { sinceMs: nowMs, lastMs: Number.NEGATIVE_INFINITY };
    const isGap = nowMs - lastMs >= expirationMs;
    this.last = { weight, sinceMs: isGap ? nowMs : sinceMs, lastMs: nowMs };
  }

  /** Undefined: there is none yet, or none any more. */
  weightAt(nowMs: number): number | undefined {
    return this.last && weightAt(this.last, this.#options, nowMs);
  }
}

export interface ReportedWeightsParts {
  readonly options: LoadReportOptions;
  readonly nowMs: () => number;
  /** Takes turns by these weights, in the order of the hosts. */
  readonly makePicker: (hosts: readonly UpstreamHost[], weights: readonly number[]) => HostPicker;
  /** All of the priority: one without a weight of its own gets the median of theirs. */
  readonly peers: readonly UpstreamHost[];
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
    this.#weights = weightsOf(hosts, parts.peers, parts.nowMs());
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
    const weights = weightsOf(this.#hosts, this.#parts.peers, nowMs);
    if (weights.every((weight, at) => weight === this.#weights[at])) return;
    this.#weights = weights;
    this.#picker = this.#parts.makePicker(this.#hosts, weights);
  }
}

function weightsOf(
  hosts: readonly UpstreamHost[],
  peers: readonly UpstreamHost[],
  nowMs: number,
): readonly number[] {
  const weightOf = ({ reportedLoad }: UpstreamHost): number | undefined =>
    reportedLoad?.weightAt(nowMs);
  const median = medianOf(peers.map(weightOf));
  return hosts.map((host) => weightOf(host) ?? median);
}
