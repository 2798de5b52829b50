/**
 * What the workers of a process tell each other about quotas of requests, through the supervisor. The
 * workers that have a service's domain are a group. One of them owns its stream to the service: the
 * others tell it what passed, and it hands on what the service assigns.
 */
import type { QuotaStrategy } from '../resources/filters/http/limits/rate-limit-quota.ts';

/** The id of a bucket, by key in the order of the keys; a byte in each character. */
export type QuotaId = readonly (readonly [key: string, value: string])[];

/** Buckets in one step; the others follow. */
export const QUOTA_STEP_MAX = 1000;

/** One bucket of one worker since it was last told of. */
export interface QuotaUse {
  readonly id: QuotaId;
  readonly allowed: number;
  readonly denied: number;
  readonly reportMs: number;
  /** The worker has to be handed what the owner knows of the bucket. */
  readonly isNew: boolean;
  /** Where its tokens are; absent: not known yet. */
  readonly number?: number;
  /** For an owner that is new: what an earlier one handed on. */
  readonly assigned?: QuotaAssigned;
}

/** A bucket as the owner knows it. */
export type QuotaGift =
  | {
      readonly id: QuotaId;
      /** Where its tokens are in shared memory; absent: each worker has tokens of its own. */
      readonly number?: number;
      /** Absent: unchanged. */
      readonly assigned?: QuotaAssigned;
    }
  | { readonly id: QuotaId; readonly isAbandoned: true };

interface QuotaAssigned {
  readonly strategy: QuotaStrategy;
  /** Not above 0: it has run out. */
  readonly ttlMs: number;
}

/** From a worker. */
export interface QuotaNotice {
  readonly kind: 'quota_notice';
  readonly group: string;
  readonly step:
    | { readonly step: 'join' }
    | { readonly step: 'leave' }
    /** For the owner. Lost when the owner is congested or just ended. */
    | { readonly step: 'used'; readonly uses: readonly QuotaUse[] }
    /** Of the owner, for the others. */
    | { readonly step: 'given'; readonly gifts: readonly QuotaGift[] };
}

/** To a worker. */
export interface QuotaCommand {
  readonly kind: 'quota_command';
  readonly group: string;
  readonly step:
    /** All buckets are to be told of from the beginning, to whoever owns the stream now. */
    | { readonly step: 'owned'; readonly isByYou: boolean }
    | Exclude<QuotaNotice['step'], { readonly step: 'join' | 'leave' }>;
}
