/**
 * Whether a failed attempt of one request is followed by another, and when. Holds one of the
 * cluster's retries from the decision until the next one, or until `release`, which the owner must
 * call. Decides, and tells the ledgers what it decided; it arms no timer.
 */
import type { ResetReason } from '../../stream/codec.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { GRPC_STATUS_CONDITIONS, RetryOn } from '../../routing/retry-conditions.ts';
import type { RequestRetries } from '../../routing/retry-policy.ts';
import { predicateRefuses } from './host-predicates.ts';
import type { Priority } from '../../upstream/cluster-limits.ts';
import type { UpstreamCluster } from '../../upstream/cluster.ts';
import type { UpstreamHost } from '../../upstream/hosts/host.ts';
import { clusterLedger, type RetryEvent } from '../ledger/cluster-ledger.ts';

/** `limit`: no attempt is left; `overflow`: the cluster's limit of retries is reached. */
export type RetryVerdict = 'retry' | 'no' | 'limit' | 'overflow';

export interface RetryContext {
  readonly cluster: UpstreamCluster;
  readonly priority: Priority;
  /** Counts for the virtual cluster, when the request belongs to one. */
  readonly countVirtual: (event: RetryEvent) => void;
  /** Numbers from 0, below 1. */
  readonly random: () => number;
  /** Unix time in milliseconds. */
  readonly wallMs: () => number;
}

const GRPC_CONDITIONS = [...GRPC_STATUS_CONDITIONS.values()].reduce((all, bit) => all | bit, 0);

const CONNECT_FAILURES: ReadonlySet<ResetReason> = new Set([
  'connection_failure',
  'local_connection_failure',
  'connection_timeout',
]);

export class RetryState {
  readonly #retries: RequestRetries;
  readonly #context: RetryContext;
  readonly #tried: UpstreamHost[] = [];
  #left: number;
  #nextBackOffMs: number;
  /** The number of attempts that do not count for their priority any more. */
  #forgotten = 0;
  #askedBackOffMs: number | undefined = undefined;
  #holdsRetry = false;

  constructor(retries: RequestRetries, context: RetryContext) {
    this.#retries = retries;
    this.#context = context;
    this.#left = retries.retries;
    this.#nextBackOffMs = retries.policy.backOffBaseMs;
  }

  /** How many further hosts may be drawn where a predicate refuses one. */
  get maxHostDraws(): number {
    return this.#retries.policy.hostSelectionRetryMaxAttempts;
  }

  /** What the next attempt is to leave out; undefined: nothing. */
  get triedPriorities(): ReadonlySet<number> | undefined {
    const frequency = this.#retries.policy.previousPrioritiesUpdateFrequency;
    if (frequency === undefined) return undefined;
    const counted = this.#tried.slice(this.#forgotten, this.#countedAttempts(frequency));
    return new Set(counted.map(({ priority }) => priority));
  }

  /** All of them were tried: the next attempts begin again. */
  forgetTriedPriorities(): void {
    const frequency = this.#retries.policy.previousPrioritiesUpdateFrequency ?? 1;
    this.#forgotten = this.#countedAttempts(frequency);
  }

  noteTriedHost(host: UpstreamHost): void {
    this.#tried.push(host);
  }

  /** Whether a predicate of the policy refuses the host for another attempt. */
  refuses(host: UpstreamHost): boolean {
    const { hostPredicates } = this.#retries.policy;
    return hostPredicates.some((predicate) => predicateRefuses(predicate, host, this.#tried));
  }

  /** What `afterHeaders` would say if every attempt were left; counts nothing. */
  wantsRetryOf(headers: HeaderMap): boolean {
    const { conditions, statusCodes, responseHeaders } = this.#retries;
    if (headers.has('x-envoy-ratelimited')) return (conditions & RetryOn.rateLimited) !== 0;
    if ((conditions & STATUS_CONDITIONS[statusKind(headers.status)]) !== 0) return true;
    if ((conditions & RetryOn.retriableStatusCodes) !== 0 && statusCodes.includes(headers.status)) {
      return true;
    }
    if ((conditions & RetryOn.retriableHeaders) !== 0) {
      for (const matches of responseHeaders) if (matches(headers)) return true;
    }
    if ((conditions & GRPC_CONDITIONS) === 0) return false;
    const grpcStatus = headers.get('grpc-status');
    const condition = grpcStatus === undefined ? 0 : GRPC_STATUS_CONDITIONS.get(Number(grpcStatus));
    return (conditions & (condition ?? 0)) !== 0;
  }

  afterHeaders(headers: HeaderMap): RetryVerdict {
    const wants = this.wantsRetryOf(headers);
    if (wants) this.#askedBackOffMs = this.#readAskedBackOff(headers);
    return this.#decide(wants);
  }

  /** `isRequestStarted`: some of the request was sent, in this attempt or an earlier one. */
  afterReset(reason: ResetReason, isRequestStarted: boolean): RetryVerdict {
    return this.#decide(this.#wantsRetryOfReset(reason, isRequestStarted));
  }

  /** An attempt took too long and goes on beside another one. */
  afterSlowAttempt(): RetryVerdict {
    return this.#decide(true);
  }

  /** How long to wait before the attempt that was just decided, in milliseconds; may be 0. */
  takeBackOffMs(): number {
    const { cluster, random } = this.#context;
    const asked = this.#askedBackOffMs;
    this.#askedBackOffMs = undefined;
    if (asked !== undefined) {
      clusterLedger.backedOff(cluster, 'rateLimited');
      return asked + Math.floor(random() * Math.floor(asked / 2));
    }
    clusterLedger.backedOff(cluster, 'exponential');
    const backOffMs = Math.floor(random() * this.#nextBackOffMs);
    this.#nextBackOffMs = Math.min(this.#nextBackOffMs * 2, this.#retries.policy.backOffMaxMs);
    return backOffMs;
  }

  release(): void {
    if (!this.#holdsRetry) return;
    this.#holdsRetry = false;
    const { cluster, priority } = this.#context;
    cluster.limits[priority].close('retries');
  }

  #decide(wants: boolean): RetryVerdict {
    if (this.#holdsRetry && !wants) this.#count('success');
    this.release();
    if (!wants) return 'no';
    if (this.#left === 0) {
      this.#count('limit');
      return 'limit';
    }
    this.#left--;
    const { cluster, priority } = this.#context;
    const limits = cluster.limits[priority];
    if (!limits.tryOpen('retries')) {
      this.#count('overflow');
      return 'overflow';
    }
    this.#holdsRetry = true;
    this.#count('retry');
    return 'retry';
  }

  #wantsRetryOfReset(reason: ResetReason, isRequestStarted: boolean): boolean {
    const { conditions } = this.#retries;
    if (reason === 'overflow') return false;
    if ((conditions & (RetryOn.reset | RetryOn.serverError | RetryOn.gatewayError)) !== 0) {
      return true;
    }
    if (!isRequestStarted && (conditions & RetryOn.resetBeforeRequest) !== 0) return true;
    if (reason === 'remote_refused_stream' && (conditions & RetryOn.refusedStream) !== 0) {
      return true;
    }
    const isConnectFailure = CONNECT_FAILURES.has(reason);
    return isConnectFailure && (conditions & RetryOn.connectFailure) !== 0;
  }

  /** Tried priorities are brought up to date after so many attempts. */
  #countedAttempts(frequency: number): number {
    return Math.floor(this.#tried.length / frequency) * frequency;
  }

  /** The first header that asks for a wait within the limit; too short a wait is none. */
  #readAskedBackOff(headers: HeaderMap): number | undefined {
    const { rateLimitedBackOff } = this.#retries.policy;
    if (rateLimitedBackOff === undefined) return undefined;
    for (const { name, format } of rateLimitedBackOff.resetHeaders) {
      const text = headers.get(name);
      if (text === undefined || !UNSIGNED.test(text)) continue;
      const ms = Number(text) * 1000;
      const waitMs = format === 'SECONDS' ? ms : ms - Math.floor(this.#context.wallMs());
      if (waitMs < 0 || waitMs > rateLimitedBackOff.maxIntervalMs) continue;
      return waitMs > 1 ? waitMs : undefined;
    }
    return undefined;
  }

  #count(event: RetryEvent): void {
    const { cluster, countVirtual } = this.#context;
    clusterLedger.retries(cluster, event);
    countVirtual(event);
  }
}

const UNSIGNED = /^\d{1,15}$/;

const STATUS_CONDITIONS = {
  server_error: RetryOn.serverError,
  gateway_error: RetryOn.serverError | RetryOn.gatewayError,
  conflict: RetryOn.retriable4xx,
  other: 0,
} as const;

function statusKind(status: number): keyof typeof STATUS_CONDITIONS {
  if (status >= 502 && status <= 504) return 'gateway_error';
  if (status >= 500 && status < 600) return 'server_error';
  return status === 409 ? 'conflict' : 'other';
}
