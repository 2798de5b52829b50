/**
 * One bucket of requests in this worker: what a service assigned to it, until when, and what it has
 * let pass. Tokens are those of all workers from the moment at which the bucket has its number.
 */
import type { QuotaGift, QuotaId, QuotaUse } from '../../../../shared/messages/quota-steps.ts';
import type {
  QuotaBucketSettings,
  QuotaStrategy,
} from '../../../../shared/resources/filters/http/limits/rate-limit-quota.ts';
import { type BucketState, TokenBucket } from '../../common/token-bucket.ts';

/** What of a bucket may have tokens. */
export const TOKEN_PARTS = ['unassigned', 'expired', 'assigned'] as const;
type TokenPart = (typeof TOKEN_PARTS)[number];
/** Where all workers have the tokens of the bucket with this number. */
export type TokenStates = (number: number, part: TokenPart) => BucketState;

interface Assignment {
  readonly pace: Pace;
  readonly endsMs: number;
}

export class QuotaBucket {
  readonly id: QuotaId;
  readonly settings: QuotaBucketSettings;
  readonly #unassigned: Pace;
  readonly #expired: Pace | undefined;
  #assignment: Assignment | undefined;
  #number: number | undefined;
  #allowed = 0;
  #denied = 0;
  usedMs: number;
  /** The owner of the stream knows that this worker has it. */
  isTold = false;

  constructor(id: QuotaId, settings: QuotaBucketSettings, nowMs: number) {
    this.id = id;
    this.settings = settings;
    this.#unassigned = new Pace(settings.unassigned);
    const expired = settings.expired?.strategy;
    this.#expired = expired === undefined || expired === 'reuse' ? undefined : new Pace(expired);
    this.usedMs = nowMs;
  }

  /** There is something to tell. */
  get isDue(): boolean {
    return !this.isTold || this.#allowed + this.#denied > 0;
  }

  /** What the owner knows of it. */
  given(gift: Extract<QuotaGift, { number?: number }>, states: TokenStates, nowMs: number): void {
    const { number, assigned } = gift;
    const isMoved = number !== this.#number;
    this.#number = number;
    const stateOf = (part: TokenPart): BucketState | undefined =>
      number === undefined ? undefined : states(number, part);
    if (isMoved) {
      this.#unassigned.moveTo(() => stateOf('unassigned'), nowMs);
      this.#expired?.moveTo(() => stateOf('expired'), nowMs);
      this.#assignment?.pace.moveTo(() => stateOf('assigned'), nowMs);
    }
    if (assigned === undefined) return;
    const { strategy, ttlMs } = assigned;
    const endsMs = nowMs + ttlMs;
    const present = this.#assignment?.pace;
    if (present !== undefined && isSameStrategy(present.strategy, strategy)) {
      this.#assignment = { pace: present, endsMs };
      return;
    }
    const pace = new Pace(strategy);
    pace.moveTo(() => stateOf('assigned'), nowMs);
    this.#assignment = { pace, endsMs };
  }

  /** Whether one request more may pass; counted. */
  take(nowMs: number): boolean {
    this.usedMs = nowMs;
    const isAllowed = this.#present(nowMs).take(nowMs);
    if (isAllowed) this.#allowed += 1;
    else this.#denied += 1;
    return isAllowed;
  }

  /** What happened since the last one. */
  use(nowMs: number): QuotaUse {
    const assigned = this.isTold ? undefined : this.#assignment;
    const use = {
      id: this.id,
      allowed: this.#allowed,
      denied: this.#denied,
      reportMs: this.settings.reportMs,
      isNew: !this.isTold,
      ...(this.#number !== undefined && { number: this.#number }),
      ...(assigned && {
        assigned: { strategy: assigned.pace.strategy, ttlMs: assigned.endsMs - nowMs },
      }),
    };
    this.#allowed = this.#denied = 0;
    this.isTold = true;
    return use;
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

/** A strategy with the tokens that it has left. */
class Pace {
  readonly strategy: QuotaStrategy;
  #tokens: TokenBucket | undefined;
  /** From tokens of this worker alone. */
  #taken = 0;
  #isShared = false;

  constructor(strategy: QuotaStrategy) {
    this.strategy = strategy;
    this.#tokens = tokensOf(strategy);
  }

  take(nowMs: number): boolean {
    if (this.#tokens === undefined) return this.strategy.kind === 'allow';
    const isAllowed = this.#tokens.take(nowMs);
    if (isAllowed && !this.#isShared) this.#taken += 1;
    return isAllowed;
  }

  /** What was taken before is taken there, as far as there is so much. Undefined: its own. */
  moveTo(stateOf: () => BucketState | undefined, nowMs: number): void {
    if (this.#tokens === undefined) return;
    const state = stateOf();
    this.#isShared = state !== undefined;
    this.#tokens = tokensOf(this.strategy, state);
    if (this.#taken > 0) this.#tokens?.takeUpTo(this.#taken, nowMs);
    this.#taken = 0;
  }
}

function tokensOf(strategy: QuotaStrategy, state?: BucketState): TokenBucket | undefined {
  return strategy.kind === 'tokens'
    ? new TokenBucket({ ...strategy, place: '' }, state)
    : undefined;
}

export function isSameStrategy(one: QuotaStrategy, other: QuotaStrategy): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
