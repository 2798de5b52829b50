/** Which hosts stand out by the rate of their good answers in one interval, among those in use. */
import type { OutlierSettings } from '../resolved/outlier-settings.ts';

/** What one host, not ejected, did in the interval. */
export interface HostCounts<Host> {
  readonly host: Host;
  readonly total: number;
  readonly good: number;
}

/** Average and threshold in percent; -1 without enough data. */
export interface RateSummary {
  readonly average: number;
  readonly threshold: number;
}

export interface RateJudgement<Host> {
  readonly summary: RateSummary;
  /** In percent, of those with enough requests to say so. */
  readonly rates: ReadonlyMap<Host, number>;
  /** Below the threshold of success rates. */
  readonly low: readonly Host[];
  /** Above the failure percentage. */
  readonly failing: readonly Host[];
}

export const NO_RATE = -1;
export const NO_SUMMARY: RateSummary = { average: NO_RATE, threshold: NO_RATE };

/** A host may stand out in both ways. */
export function judgeRates<Host>(
  counts: readonly HostCounts<Host>[],
  { successRate, failurePercentage }: OutlierSettings,
): RateJudgement<Host> {
  const seen = counts
    .filter(({ total }) => total > 0)
    .map(({ host, total, good }) => ({ host, total, rate: (100 * good) / total }));
  const withVolume = (least: number): typeof seen => seen.filter(({ total }) => total >= least);
  const least = Math.min(successRate.requestVolume, failurePercentage.requestVolume);
  const compared = withVolume(successRate.requestVolume);
  const summary = summarise(
    compared.map(({ rate }) => rate),
    successRate,
  );
  const counted = withVolume(failurePercentage.requestVolume);
  const isEnough = counted.length > 0 && counted.length >= failurePercentage.minimumHosts;
  return {
    summary,
    rates: new Map(withVolume(least).map(({ host, rate }) => [host, rate])),
    low: compared.filter(({ rate }) => rate < summary.threshold).map(({ host }) => host),
    failing: (isEnough ? counted : [])
      .filter(({ rate }) => 100 - rate >= failurePercentage.threshold)
      .map(({ host }) => host),
  };
}

function summarise(
  rates: readonly number[],
  settings: OutlierSettings['successRate'],
): RateSummary {
  if (rates.length === 0 || rates.length < settings.minimumHosts) return NO_SUMMARY;
  const average = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  const variance = rates.reduce((sum, rate) => sum + (rate - average) ** 2, 0) / rates.length;
  return { average, threshold: average - settings.deviationFactor * Math.sqrt(variance) };
}
