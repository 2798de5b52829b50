/**
 * How many hosts of a cluster pass its active checks, in its statistics. Where a check has a name
 * its figures are the workers'; a single one that has a name leaves nothing to count here.
 */
import type { ClusterResource } from '../../../shared/resources/clusters/cluster.ts';
import type { StatWriter } from '../../../shared/stats/stat-writer.ts';
import {
  HEALTH_CHECK,
  HEALTH_CHECK_TOTALS,
} from '../../../shared/stats/templates/cluster-features.ts';

interface Gauges {
  readonly base: number;
  readonly healthy: number;
  readonly degraded: number;
}

export class CheckGauges {
  readonly #writer: StatWriter;
  readonly #gauges: Gauges | undefined;
  #shown = { healthy: 0, degraded: 0 };

  constructor({ healthChecks = [], statName }: ClusterResource, writer: StatWriter) {
    this.#writer = writer;
    const template = healthChecks.length > 1 ? HEALTH_CHECK_TOTALS : HEALTH_CHECK;
    const [only] = healthChecks;
    if (only === undefined || (healthChecks.length === 1 && only.name !== undefined)) return;
    const base = writer.defineBlock(template, `cluster.${statName}.health_check.`);
    const { healthy, degraded } = template.index;
    this.#gauges = { base, healthy: base + healthy, degraded: base + degraded };
  }

  /**
   * What is as before is not shown again, unless `isAgain`: another version may have shown its own.
   */
  show(counts: { readonly healthy: number; readonly degraded: number }, isAgain = false): void {
    if (this.#gauges === undefined) return;
    const { healthy, degraded } = counts;
    const isSame = healthy === this.#shown.healthy && degraded === this.#shown.degraded;
    if (isSame && !isAgain) return;
    this.#shown = { healthy, degraded };
    this.#writer.setGauge(this.#gauges.healthy, healthy);
    this.#writer.setGauge(this.#gauges.degraded, degraded);
  }

  release(): void {
    if (this.#gauges !== undefined) this.#writer.releaseBlock(this.#gauges.base);
  }
}
