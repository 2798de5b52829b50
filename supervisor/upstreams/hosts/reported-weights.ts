/**
 * The weights that hosts of one cluster reported to any worker, for `/clusters`. They decide
 * nothing here: each worker balances by what it saw.
 */
import type { Clock } from '../../../shared/process/clock.ts';
import type { SentWeight } from '../../../shared/messages/worker-notices.ts';
import {
  medianOf,
  type ReportedWeight,
  weightAt,
} from '../../../shared/resources/clusters/reported-weights.ts';
import type { HostResource } from '../../../shared/resources/clusters/cluster.ts';
import {
  findPolicy,
  type LbPolicy,
  type LoadReportOptions,
} from '../../../shared/resources/clusters/lb-policy.ts';

/** Undefined of a cluster whose policy does not go by them. */
export function reportedWeightsOf(policy: LbPolicy, clock: Clock): ReportedWeights | undefined {
  const options = findPolicy(policy, 'client_side_weighted_round_robin')?.loadReports;
  return options && new ReportedWeights(options, clock);
}

export class ReportedWeights {
  readonly #options: LoadReportOptions;
  readonly #clock: Clock;
  readonly #sinceMs: number;
  #last = new Map<string, ReportedWeight>();

  constructor(options: LoadReportOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
    this.#sinceMs = clock.monotonicMs();
  }

  /** `isThere`: whether the cluster still has the host. */
  report(weights: readonly SentWeight[], isThere: (id: string) => boolean): void {
    const nowMs = this.#clock.monotonicMs();
    const last = new Map([...this.#last].filter(([id]) => isThere(id)));
    for (const { host, weight, forMs, agoMs } of weights) {
      if (!isThere(host)) continue;
      last.set(host, { weight, sinceMs: nowMs - forMs, lastMs: nowMs - agoMs });
    }
    this.#last = last;
  }

  /** In their order; those of the configuration until weights are computed for the first time. */
  weightsOf(hosts: readonly HostResource[]): readonly number[] {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#sinceMs < this.#options.updateMs) return hosts.map(({ weight }) => weight);
    const own = hosts.map(({ id }) => {
      const last = this.#last.get(id);
      return last && weightAt(last, this.#options, nowMs);
    });
    const medians = new Map<number, number>();
    for (const priority of new Set(hosts.map((host) => host.priority))) {
      medians.set(priority, medianOf(own.filter((_, at) => hosts[at]?.priority === priority)));
    }
    return hosts.map(({ priority, weight }, at) => own[at] ?? medians.get(priority) ?? weight);
  }
}
