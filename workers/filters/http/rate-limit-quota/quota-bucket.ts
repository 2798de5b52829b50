/** One bucket of requests: what a service assigned to it, until when, and what it has let pass. */
import type {
  QuotaBucketSettings,
  QuotaStrategy,
} from '../../../../shared/resources/filters/http/limits/rate-limit-quota.ts';
import { TokenBucket } from '../../common/token-bucket.ts';
import type { QuotaId, QuotaUsage } from './quota-messages.ts';

interface Assignment {
  readonly pace: Pace;
  readonly endsMs: number;
}

/** A strategy with the tokens that it has left. */
interface Pace {
  readonly strategy: QuotaStrategy;
  readonly tokens: TokenBucket | undefined;
}

export class QuotaBucket {
  readonly id: QuotaId;
  readonly settings: QuotaBucketSettings;
  readonly #unassigned: Pace;
  readonly #expired: Pace | undefined;
  #assignment: Assignment | undefined;
  #allowed = 0;
  #denied = 0;
  #reportedMs: number;
  usedMs: number;

  constructor(id: QuotaId, settings: QuotaBucketSettings, nowMs: number) {
    this.id = id;
    this.settings = settings;
    this.#unassigned = paceOf(settings.unassigned);
    const expired = settings.expired?.strategy;
    this.#expired = expired === undefined || expired === 'reuse' ? undefined : paceOf(expired);
    this.#reportedMs = this.usedMs = nowMs;
  }

  assign(strategy: QuotaStrategy, ttlMs: number, nowMs: number): void {
    const endsMs = nowMs + ttlMs;
    const present = this.#assignment?.pace;
    // The same limit again goes on with the tokens that it has.
    const pace = present && isSame(present.strategy, strategy) ? present : paceOf(strategy);
    this.#assignment = { pace, endsMs };
  }

  /** Whether one request more may pass; counted. */
  take(nowMs: number): boolean {
    this.usedMs = nowMs;
    const { strategy, tokens } = this.#present(nowMs);
    const isAllowed = tokens === undefined ? strategy.kind === 'allow' : tokens.take(nowMs);
    if (isAllowed) this.#allowed += 1;
    else this.#denied += 1;
    return isAllowed;
  }

  isDue(nowMs: number): boolean {
    return nowMs - this.#reportedMs >= this.settings.reportMs;
  }

  /** What happened since the last report; begins anew. */
  report(nowMs: number): QuotaUsage {
    const elapsedMs = Math.max(0, nowMs - this.#reportedMs);
    const usage = { id: this.id, elapsedMs, allowed: this.#allowed, denied: this.#denied };
    this.#allowed = this.#denied = 0;
    this.#reportedMs = nowMs;
    return usage;
  }

  #present(nowMs: number): Pace {
    const assignment = this.#assignment;
    if (assignment === undefined) return this.#unassigned;
    if (nowMs < assignment.endsMs) return assignment.pace;
    const { expired } = this.settings;
    if (expired !== undefined && nowMs < assignment.endsMs + expired.timeoutMs) {
      return this.#expired ?? assignment.pace;
    }
    this.#assignment = undefined;
    return this.#unassigned;
  }
}

function paceOf(strategy: QuotaStrategy): Pace {
  const tokens =
    strategy.kind === 'tokens' ? new TokenBucket({ ...strategy, place: '' }) : undefined;
  return { strategy, tokens };
}

function isSame(one: QuotaStrategy, other: QuotaStrategy): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
