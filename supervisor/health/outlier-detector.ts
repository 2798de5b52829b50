/**
 * Decides which hosts of one cluster are ejected for what their answers were: at once for failures
 * in a row, which workers report, and at each interval for rates. It counts and decides; the
 * cluster tells the workers.
 */
import type { Clock, Timer } from '../../shared/process/clock.ts';
import type { Steps } from '../loop/loop-turns.ts';
import { OUTLIER_SLOT, type OutlierPage } from '../../shared/limits/outlier-page.ts';
import type { HealthFlag } from '../../shared/resources/clusters/host-health.ts';
import type { OutlierSign } from '../../shared/resources/clusters/outlier-detection.ts';
import { OUTLIER_DETECTION } from '../../shared/stats/templates/cluster-features.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { OutlierEvent } from './outlier-events.ts';
import {
  type HostCounts,
  judgeRates,
  NO_RATE,
  NO_SUMMARY,
  type RateSummary,
} from './outlier-rates.ts';
import { Penalty } from './penalty.ts';
import type { OutlierKind, OutlierSettings } from '../resolved/outlier-settings.ts';

export type OutlierFlag = Extract<
  HealthFlag,
  'failed_outlier_check' | 'degraded_outlier_detection'
>;

export interface OutlierDetectorOptions {
  /** As the runtime has them now. */
  readonly settings: () => OutlierSettings;
  readonly page: OutlierPage;
  readonly clock: Clock;
  readonly random: () => number;
  readonly writer: StatWriter;
  /** The cluster's name in statistics. */
  readonly statName: string;
  log(event: Omit<OutlierEvent, 'cluster'>): void;
  /** The host is ejected or degraded from now on, or no more. */
  flagged(host: string, flag: OutlierFlag, isSet: boolean): void;
}

interface WatchedHost {
  readonly id: string;
  readonly slot: number;
  readonly ejection: Penalty;
  readonly degradation: Penalty;
  ejections: number;
  lastEjectedMs: number | undefined;
  lastLetInMs: number | undefined;
  successRate: number;
  localSuccessRate: number;
}

/** Hosts that are looked at in one step. */
const HOSTS_PER_STEP = 512;

export class OutlierDetector {
  readonly #options: OutlierDetectorOptions;
  readonly #stats: number;
  readonly #hosts = new Map<string, WatchedHost>();
  /** The sums of the last interval. */
  external: RateSummary = NO_SUMMARY;
  local: RateSummary = NO_SUMMARY;
  #timer: Timer | undefined;
  #active = 0;

  constructor(options: OutlierDetectorOptions) {
    this.#options = options;
    const prefix = `cluster.${options.statName}.outlier_detection.`;
    this.#stats = options.writer.defineBlock(OUTLIER_DETECTION, prefix);
    this.#beginInterval();
  }

  /** These hosts, each with its slot, from the last step on. */
  *setHosts(hosts: Iterable<{ readonly id: string; readonly slot: number }>): Steps<void> {
    const kept = new Set<string>();
    for (const { id, slot } of hosts) {
      kept.add(id);
      if (kept.size % HOSTS_PER_STEP === 0) yield;
      if (this.#hosts.has(id)) continue;
      this.#hosts.set(id, {
        id,
        slot,
        ejection: new Penalty(),
        degradation: new Penalty(),
        ejections: 0,
        lastEjectedMs: undefined,
        lastLetInMs: undefined,
        successRate: NO_RATE,
        localSuccessRate: NO_RATE,
      });
    }
    let count = 0;
    for (const id of this.#hosts.keys()) {
      if (!kept.has(id)) this.forget(id);
      if (++count % HOSTS_PER_STEP === 0) yield;
    }
  }

  /** The host is gone, and with it what was found of it. */
  forget(id: string): void {
    if (this.#hosts.get(id)?.ejection.isActive === true) this.#countActive(-1);
    this.#hosts.delete(id);
  }

  /** A worker saw a threshold of failures in a row reached, or a host say that it is degraded. */
  detected(id: string, sign: OutlierSign): void {
    const host = this.#hosts.get(id);
    if (host === undefined) return;
    if (sign === 'degraded') this.#degrade(host);
    else if (!host.ejection.isActive) this.#detect(host, sign);
  }

  /** An active check found the host well: that ends its ejection, where this is wanted. */
  passedCheck(id: string): void {
    const host = this.#hosts.get(id);
    if (host?.ejection.isActive !== true || !this.#options.settings().endsByCheck) return;
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
    this.#options.writer.releaseBlock(this.#stats);
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
    this.#eject(host, settings);
    this.#log(host, kind, { action: 'EJECT', isEnforced: true });
    host.lastEjectedMs = this.#options.clock.monotonicMs();
    this.#count('ejections_enforced_total');
    this.#count(`ejections_enforced_${kind}`);
  }

  /** Ejects a host; where it is ejected already the ejection begins again. */
  #eject(host: WatchedHost, settings: OutlierSettings): void {
    const { clock, random } = this.#options;
    if (!host.ejection.isActive) this.#countActive(1);
    host.ejection.begin(clock.monotonicMs(), settings, random());
    host.ejections += 1;
    this.#options.flagged(host.id, 'failed_outlier_check', true);
  }

  #degrade(host: WatchedHost): void {
    const { clock, random, settings } = this.#options;
    if (host.degradation.isActive) return;
    this.#count('ejections_detected_degradation');
    host.degradation.begin(clock.monotonicMs(), settings(), random());
    this.#options.flagged(host.id, 'degraded_outlier_detection', true);
    this.#log(host, 'degraded', { action: 'EJECT', isEnforced: true });
  }

  #endInterval(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const host of this.#hosts.values()) this.#reconsider(host, nowMs);
    this.#judgeRates('external');
    if (this.#options.settings().thresholds.splitsErrors) this.#judgeRates('local');
  }

  #reconsider(host: WatchedHost, nowMs: number): void {
    const settings = this.#options.settings();
    if (host.ejection.endInterval(nowMs, settings)) this.#uneject(host, nowMs);
    if (host.degradation.endInterval(nowMs, settings)) {
      host.degradation.end();
      this.#log(host, 'consecutive_5xx', { action: 'UNEJECT', isEnforced: false });
      this.#options.flagged(host.id, 'degraded_outlier_detection', false);
    }
  }

  #uneject(host: WatchedHost, nowMs: number): void {
    host.ejection.end();
    this.#log(host, 'consecutive_5xx', { action: 'UNEJECT', isEnforced: false });
    host.lastLetInMs = nowMs;
    this.#countActive(-1);
    for (const kind of CONSECUTIVE) this.#options.page.clear(host.slot, OUTLIER_SLOT[kind]);
    this.#options.flagged(host.id, 'failed_outlier_check', false);
  }

  #judgeRates(side: 'external' | 'local'): void {
    const settings = this.#options.settings();
    const isLocal = side === 'local';
    const counts = this.#takeCounts(isLocal);
    this[side] = NO_SUMMARY;
    const { successRate, failurePercentage } = settings;
    const leastHosts = Math.min(successRate.minimumHosts, failurePercentage.minimumHosts);
    if (this.#hosts.size < leastHosts) return;
    const { summary, rates, low, failing } = judgeRates(counts, settings);
    this[side] = summary;
    for (const [host, rate] of rates) {
      if (isLocal) host.localSuccessRate = rate;
      else host.successRate = rate;
    }
    const [byRate, byPercentage] = isLocal ? LOCAL_KINDS : EXTERNAL_KINDS;
    for (const host of low) this.#detect(host, byRate);
    for (const host of failing) this.#detect(host, byPercentage);
  }

  /** What was counted in the interval, of those that are in use; nobody has a rate any more. */
  #takeCounts(isLocal: boolean): readonly HostCounts<WatchedHost>[] {
    const { page } = this.#options;
    const counts: HostCounts<WatchedHost>[] = [];
    for (const host of this.#hosts.values()) {
      const total = page.take(host.slot, isLocal ? OUTLIER_SLOT.localTotal : OUTLIER_SLOT.total);
      const good = page.take(host.slot, isLocal ? OUTLIER_SLOT.localSuccess : OUTLIER_SLOT.success);
      if (isLocal) host.localSuccessRate = NO_RATE;
      else host.successRate = NO_RATE;
      if (!host.ejection.isActive) counts.push({ host, total, good });
    }
    return counts;
  }

  #log(
    host: WatchedHost,
    kind: OutlierEvent['kind'],
    what: Pick<OutlierEvent, 'action' | 'isEnforced'>,
  ): void {
    const { clock } = this.#options;
    const isLocal = kind.startsWith('local_origin');
    const lastMs = what.action === 'EJECT' ? host.lastLetInMs : host.lastEjectedMs;
    this.#options.log({
      ...what,
      host: host.id,
      kind,
      wallMs: clock.wallMs(),
      sinceLastMs: lastMs === undefined ? undefined : clock.monotonicMs() - lastMs,
      ejections: host.ejections,
      rates: {
        host: isLocal ? host.localSuccessRate : host.successRate,
        ...(isLocal ? this.local : this.external),
      },
    });
  }

  #countActive(change: 1 | -1): void {
    this.#active += change;
    this.show();
  }

  /** Another version of the cluster may have shown its own. */
  show(): void {
    const { ejections_active: active } = OUTLIER_DETECTION.index;
    this.#options.writer.setGauge(this.#stats + active, this.#active);
  }

  #count(name: keyof typeof OUTLIER_DETECTION.index): void {
    this.#options.writer.increment(this.#stats + OUTLIER_DETECTION.index[name]);
  }
}

const CONSECUTIVE = [
  'consecutive_5xx',
  'consecutive_gateway_failure',
  'consecutive_local_origin_failure',
] as const;

const EXTERNAL_KINDS = ['success_rate', 'failure_percentage'] as const;
const LOCAL_KINDS = ['local_origin_success_rate', 'local_origin_failure_percentage'] as const;
