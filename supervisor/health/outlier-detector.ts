/**
 * Decides which hosts of one cluster are ejected for what their answers were: at once for failures in
 * a row, which workers report, and at each interval for rates. It counts and decides; the cluster
 * tells the workers.
 */
import type { Clock, Timer } from '../../shared/clock.ts';
import { OUTLIER_SLOT, type OutlierPage } from '../../shared/limits/outlier-page.ts';
import { OUTLIER_DETECTION } from '../../shared/stats/templates/cluster-features.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { OutlierEvent } from './outlier-events.ts';
import type { OutlierKind, OutlierSettings } from '../resources/clusters/outlier-detection.ts';

export interface OutlierDetectorOptions {
  /** As the runtime has them now. */
  readonly settings: () => OutlierSettings;
  readonly page: OutlierPage;
  readonly clock: Clock;
  readonly random: () => number;
  readonly stats: { readonly writer: StatWriter; readonly base: number };
  log(event: Omit<OutlierEvent, 'cluster'>): void;
  /** The host is ejected, or may be used again. */
  ejected(host: string, isEjected: boolean): void;
}

interface WatchedHost {
  readonly id: string;
  readonly slot: number;
  /** Undefined: not ejected. */
  ejectedAtMs: number | undefined;
  /** How many base times the next ejection lasts. */
  backOff: number;
  jitterMs: number;
  ejections: number;
  lastActionMs: number | undefined;
  successRate: number;
  localSuccessRate: number;
}

/** Average and threshold of the last interval; -1 without enough data. */
interface RateSummary {
  average: number;
  threshold: number;
}

const NO_RATE = -1;

export class OutlierDetector {
  readonly #options: OutlierDetectorOptions;
  readonly #hosts = new Map<string, WatchedHost>();
  readonly external: RateSummary = { average: NO_RATE, threshold: NO_RATE };
  readonly local: RateSummary = { average: NO_RATE, threshold: NO_RATE };
  #timer: Timer | undefined;
  #active = 0;

  constructor(options: OutlierDetectorOptions) {
    this.#options = options;
    this.#beginInterval();
  }

  /** These hosts, each with its slot, from now on. */
  setHosts(hosts: readonly { readonly id: string; readonly slot: number }[]): void {
    const kept = new Set(hosts.map(({ id }) => id));
    for (const host of this.#hosts.values()) {
      if (kept.has(host.id)) continue;
      if (host.ejectedAtMs !== undefined) this.#countActive(-1);
      this.#hosts.delete(host.id);
    }
    for (const { id, slot } of hosts) {
      if (this.#hosts.has(id)) continue;
      this.#hosts.set(id, {
        id,
        slot,
        ejectedAtMs: undefined,
        backOff: 0,
        jitterMs: 0,
        ejections: 0,
        lastActionMs: undefined,
        successRate: NO_RATE,
        localSuccessRate: NO_RATE,
      });
    }
  }

  /** A worker saw a threshold of failures in a row reached. */
  detected(id: string, kind: OutlierKind): void {
    const host = this.#hosts.get(id);
    if (host !== undefined && host.ejectedAtMs === undefined) this.#detect(host, kind);
  }

  /** An active check found the host well: that ends its ejection, where this is wanted. */
  passedCheck(id: string): void {
    const host = this.#hosts.get(id);
    if (host?.ejectedAtMs === undefined || !this.#options.settings().endsByCheck) return;
    this.#uneject(host, this.#options.clock.monotonicMs());
  }

  /** Percentages of the last interval, -1 without enough requests. */
  ratesOf(id: string): { readonly successRate: number; readonly localOriginSuccessRate: number } {
    const host = this.#hosts.get(id);
    return {
      successRate: host?.successRate ?? NO_RATE,
      localOriginSuccessRate: host?.localSuccessRate ?? NO_RATE,
    };
  }

  close(): void {
    this.#timer?.cancel();
  }

  #beginInterval(): void {
    const { clock, settings } = this.#options;
    this.#timer = clock.after(settings().intervalMs, () => {
      this.#endInterval();
      this.#beginInterval();
    });
  }

  #detect(host: WatchedHost, kind: OutlierKind): void {
    const { random } = this.#options;
    const settings = this.#options.settings();
    this.#count(`ejections_detected_${kind}`);
    // Older statistics.
    if (kind === 'consecutive_5xx') this.#count('ejections_consecutive_5xx');
    if (kind === 'success_rate' || kind === 'local_origin_success_rate') {
      this.#count('ejections_success_rate');
    }
    const percent = (100 * (this.#active + 1)) / this.#hosts.size;
    const isFirst = settings.alwaysEjectsOne && this.#active === 0;
    if (percent > settings.maxEjectionPercent && !isFirst) {
      this.#count('ejections_overflow');
      return;
    }
    // An older statistic, which knows these two kinds only.
    if (kind === 'consecutive_5xx' || kind === 'success_rate') this.#count('ejections_total');
    if (random() * 100 >= settings.enforcing[kind]) {
      this.#log(host, kind, { action: 'EJECT', isEnforced: false });
      return;
    }
    this.#eject(host);
    this.#log(host, kind, { action: 'EJECT', isEnforced: true });
    host.lastActionMs = host.ejectedAtMs;
    this.#count('ejections_enforced_total');
    this.#count(`ejections_enforced_${kind}`);
  }

  #eject(host: WatchedHost): void {
    const { settings, clock, random } = this.#options;
    const { baseEjectionMs, maxEjectionMs, maxEjectionJitterMs } = settings();
    if (host.backOff * baseEjectionMs < maxEjectionMs + baseEjectionMs) host.backOff += 1;
    host.jitterMs = random() * maxEjectionJitterMs;
    host.ejectedAtMs = clock.monotonicMs();
    host.ejections += 1;
    this.#countActive(1);
    this.#options.ejected(host.id, true);
  }

  #endInterval(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const host of this.#hosts.values()) this.#reconsider(host, nowMs);
    this.#judgeRates('external');
    if (this.#options.settings().thresholds.splitsErrors) this.#judgeRates('local');
  }

  #reconsider(host: WatchedHost, nowMs: number): void {
    if (host.ejectedAtMs === undefined) {
      if (host.backOff > 0) host.backOff -= 1;
      return;
    }
    const { baseEjectionMs, maxEjectionMs } = this.#options.settings();
    const lastsMs = Math.min(baseEjectionMs * host.backOff, maxEjectionMs) + host.jitterMs;
    if (nowMs - host.ejectedAtMs >= lastsMs) this.#uneject(host, nowMs);
  }

  #uneject(host: WatchedHost, nowMs: number): void {
    host.ejectedAtMs = undefined;
    this.#log(host, 'consecutive_5xx', { action: 'UNEJECT', isEnforced: false });
    host.lastActionMs = nowMs;
    this.#countActive(-1);
    for (const kind of CONSECUTIVE) this.#options.page.clear(host.slot, OUTLIER_SLOT[kind]);
    this.#options.ejected(host.id, false);
  }

  #judgeRates(side: 'external' | 'local'): void {
    const { page } = this.#options;
    const settings = this.#options.settings();
    const isLocal = side === 'local';
    const least = Math.min(
      settings.successRate.requestVolume,
      settings.failurePercentage.requestVolume,
    );
    const seen = [...this.#hosts.values()].map((host) => {
      const total = page.take(host.slot, isLocal ? OUTLIER_SLOT.localTotal : OUTLIER_SLOT.total);
      const good = page.take(host.slot, isLocal ? OUTLIER_SLOT.localSuccess : OUTLIER_SLOT.success);
      const rate = total === 0 ? NO_RATE : (100 * good) / total;
      const isEnough = total > 0 && total >= least;
      if (isLocal) host.localSuccessRate = isEnough ? rate : NO_RATE;
      else host.successRate = isEnough ? rate : NO_RATE;
      return { host, total, rate };
    });
    const { successRate, failurePercentage } = settings;
    const voluminous = seen.filter(
      ({ rate, total }) => rate >= 0 && total >= successRate.requestVolume,
    );
    const summary = summarise(
      voluminous.map(({ rate }) => rate),
      successRate,
    );
    Object.assign(this[side], summary);
    for (const { host, rate } of voluminous) {
      if (summary.threshold < 0 || rate >= summary.threshold) continue;
      if (host.ejectedAtMs === undefined) {
        this.#detect(host, isLocal ? 'local_origin_success_rate' : 'success_rate');
      }
    }
    const counted = seen.filter(
      ({ rate, total }) => rate >= 0 && total >= failurePercentage.requestVolume,
    );
    if (counted.length < failurePercentage.minimumHosts) return;
    for (const { host, rate } of counted) {
      if (100 - rate < failurePercentage.threshold || host.ejectedAtMs !== undefined) continue;
      this.#detect(host, isLocal ? 'local_origin_failure_percentage' : 'failure_percentage');
    }
  }

  #log(
    host: WatchedHost,
    kind: OutlierKind,
    what: Pick<OutlierEvent, 'action' | 'isEnforced'>,
  ): void {
    const { clock } = this.#options;
    const isLocal = kind.startsWith('local_origin');
    this.#options.log({
      ...what,
      host: host.id,
      kind,
      wallMs: clock.wallMs(),
      sinceLastMs:
        host.lastActionMs === undefined ? undefined : clock.monotonicMs() - host.lastActionMs,
      ejections: host.ejections,
      rates: {
        host: isLocal ? host.localSuccessRate : host.successRate,
        ...(isLocal ? this.local : this.external),
      },
    });
  }

  #countActive(change: 1 | -1): void {
    this.#active += change;
    const { writer, base } = this.#options.stats;
    writer.setGauge(base + OUTLIER_DETECTION.index.ejections_active, this.#active);
  }

  #count(name: keyof typeof OUTLIER_DETECTION.index): void {
    const { writer, base } = this.#options.stats;
    writer.increment(base + OUTLIER_DETECTION.index[name]);
  }
}

const CONSECUTIVE = [
  'consecutive_5xx',
  'consecutive_gateway_failure',
  'consecutive_local_origin_failure',
] as const;

function summarise(
  rates: readonly number[],
  settings: OutlierSettings['successRate'],
): RateSummary {
  if (rates.length === 0 || rates.length < settings.minimumHosts) {
    return { average: NO_RATE, threshold: NO_RATE };
  }
  const average = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  const variance = rates.reduce((sum, rate) => sum + (rate - average) ** 2, 0) / rates.length;
  return { average, threshold: average - settings.deviationFactor * Math.sqrt(variance) };
}
