/**
 * What lets one request be sent again: the retries that are left to it, and what came of it so far,
 * for further attempts and for redirects. Made only for requests whose route asks for either.
 */
import type { WorkerLoop } from '../../loop/worker-loop.ts';
import type { ResetReason } from '../../stream/codec.ts';
import type { RequestRetries } from '../../routing/retry-policy.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { Priority } from '../../upstream/cluster-limits.ts';
import type { UpstreamHost } from '../../upstream/hosts/host.ts';
import type { UpstreamRequest } from '../attempt/upstream-request.ts';
import type { UpstreamAttempts } from '../exchange/upstream-attempts.ts';
import { clusterLedger } from '../ledger/cluster-ledger.ts';
import type { RoutedRequest } from '../ledger/routed-request.ts';
import type { RouterLedger } from '../ledger/router-ledger.ts';
import { RequestCopy } from './request-copy.ts';
import { type Retrier, type RetryOwner, startRetrying } from './retrier.ts';

interface RepeatableParts {
  readonly request: RoutedRequest;
  readonly attempts: UpstreamAttempts;
  readonly copy: RequestCopy;
  /** Undefined: the request is kept for a redirect alone. */
  readonly retrier: Retrier | undefined;
  readonly isForRedirect: boolean;
}

export class RepeatableRequest {
  readonly #request: RoutedRequest;
  readonly #attempts: UpstreamAttempts;
  readonly #isForRedirect: boolean;
  #copy: RequestCopy | undefined;
  #retrier: Retrier | undefined;

  constructor({ request, attempts, copy, retrier, isForRedirect }: RepeatableParts) {
    this.#request = request;
    this.#attempts = attempts;
    this.#copy = copy;
    this.#retrier = retrier;
    this.#isForRedirect = isForRedirect;
  }

  /** There while it is known what came of the request. */
  get copy(): RequestCopy | undefined {
    return this.#copy;
  }

  /** There while the request may be attempted again. */
  get retrier(): Retrier | undefined {
    return this.#retrier;
  }

  /** Another attempt was decided and has not begun. */
  get isWaiting(): boolean {
    return this.#retrier?.isWaiting === true;
  }

  /**
   * Keeps a piece of the body. `full`: it is more than may be kept, and what was sent so far cannot
   * be sent again; `abandoned`: nor is any of it in progress now.
   */
  keep(data: Buffer): 'kept' | 'full' | 'abandoned' {
    if (this.#copy === undefined || this.#copy.add(data)) return 'kept';
    const wasBetweenAttempts = this.isWaiting && this.#attempts.isEmpty;
    if (this.#retrier !== undefined) clusterLedger.retryAbandoned(this.#request);
    this.end();
    return wasBetweenAttempts ? 'abandoned' : 'full';
  }

  noteTriedHost(host: UpstreamHost): void {
    this.#retrier?.state.noteTriedHost(host);
  }

  /** Another attempt takes the place of this one's response, or others are still waited for. */
  retriesHeaders(upstream: UpstreamRequest, headers: HeaderMap): boolean {
    const retrier = this.#retrier;
    if (retrier === undefined) return false;
    const verdict = retrier.afterHeaders(headers, upstream.isRetried);
    if (verdict === 'retry') clusterLedger.answerRetried(this.#request, headers.status);
    else if (verdict === 'no') return false;
    else if (!retrier.isWaiting && !this.#attempts.isWaitingBesides(upstream)) return false;
    clusterLedger.answerDiscarded(this.#request, upstream.host, headers);
    this.#attempts.cancel(upstream);
    return true;
  }

  /** Another attempt follows one without a response; `isStarted`: some of the request was sent. */
  retriesReset(upstream: UpstreamRequest, reason: ResetReason, isStarted: boolean): boolean {
    if (this.#retrier === undefined || upstream.isRetried) return false;
    if (!this.#retrier.afterReset(reason, isStarted)) return false;
    clusterLedger.attemptFailed(this.#request, upstream);
    return true;
  }

  /** The attempt goes on, and another one begins beside it. */
  hedge(upstream: UpstreamRequest): void {
    if (this.#retrier === undefined || upstream.isRetried) return;
    if (this.#retrier.afterSlowAttempt()) upstream.isRetried = true;
  }

  /** There will be no further attempt. */
  endRetries(): void {
    this.#retrier?.end();
    this.#retrier = undefined;
    if (!this.#isForRedirect) this.#dropCopy();
  }

  end(): void {
    this.endRetries();
    this.#dropCopy();
  }

  #dropCopy(): void {
    this.#copy?.release();
    this.#copy = undefined;
  }
}

interface KeptRequest {
  readonly request: RoutedRequest;
  readonly attempts: UpstreamAttempts;
  /** Undefined: there is one attempt. */
  readonly retries: RequestRetries | undefined;
  readonly isForRedirect: boolean;
  /** So much of the body may be kept. */
  readonly limitBytes: number;
  readonly priority: Priority;
}

export function keepRequest(
  owner: RetryOwner,
  { request, attempts, retries, isForRedirect, limitBytes, priority }: KeptRequest,
  { loop, ledger }: { readonly loop: WorkerLoop; readonly ledger: RouterLedger },
): RepeatableRequest {
  const retrier = retries && startRetrying(retries, { owner, request, priority, loop, ledger });
  const copy = new RequestCopy(limitBytes, loop.held);
  return new RepeatableRequest({ request, attempts, copy, retrier, isForRedirect });
}
