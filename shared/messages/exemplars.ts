/** Sampled requests that stand for values of histograms: what OpenMetrics calls exemplars. */

export interface Exemplar {
  /** The histogram's whole name. */
  readonly name: string;
  /** In the histogram's unit. */
  readonly value: number;
  readonly traceId: string;
  /** Unix milliseconds. */
  readonly atMs: number;
}
