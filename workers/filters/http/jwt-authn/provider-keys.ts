/**
 * The keys of one provider: those of the configuration, or those that were fetched, as long as they
 * may be used. Requests that want keys at the same time wait for one fetch.
 */
import { readJwks, JWKS_BYTES_MAX, type VerificationKey } from '../../../../shared/jwt/jwks.ts';
import type { JwksSource } from '../../../../shared/resources/filters/http/jwt-authn.ts';
import type { LoopClock } from '../../../loop/loop-clock.ts';
import { LoopTimer, type TimerOwner } from '../../../loop/timers.ts';
import { compileRetryPolicy } from '../../../routing/retry-policy.ts';
import { HttpCall, type HttpCallOwner, type HttpResponse } from '../../../services/http-call.ts';
import { HeaderMap } from '../../../stream/header-map.ts';
import type { CompiledRetryPolicy } from '../../../stream/route.ts';
import type { FilterContext } from '../../filter-context.ts';

/** Keys that are fetched ahead of time are fetched this long before the present ones end. */
const REFETCH_AHEAD_MS = 5000;
const REFETCH_MIN_MS = 1;
/** What such requests say of themselves in Envoy. */
const USER_AGENT = 'Go-browser';

export type Keys = readonly VerificationKey[];

/** Who wants keys. */
export interface KeysWaiter {
  /** Undefined: they could not be fetched. May be called before `want` returns. */
  onKeys(keys: Keys | undefined): void;
  /** A fetch ended by an exception. */
  onException(): void;
}

export interface KeysEvents {
  fetched(isGood: boolean): void;
  /** Those in use are others now. */
  changed(): void;
}

type Remote = Extract<JwksSource, { readonly kind: 'remote' }>;

export class ProviderKeys implements HttpCallOwner, TimerOwner {
  readonly #source: JwksSource;
  readonly #context: Pick<FilterContext, 'loop' | 'services'>;
  readonly #clock: LoopClock;
  readonly #events: KeysEvents;
  readonly #retryPolicy: CompiledRetryPolicy | undefined;
  readonly #refetch = new LoopTimer(this, 0);
  readonly #waiters = new Set<KeysWaiter>();
  #keys: Keys | undefined = undefined;
  #endMs = Number.POSITIVE_INFINITY;
  #call: HttpCall | undefined = undefined;
  #isFetching = false;

  constructor(
    source: JwksSource,
    context: Pick<FilterContext, 'loop' | 'services'>,
    events: KeysEvents,
  ) {
    this.#source = source;
    this.#context = context;
    this.#clock = context.loop.clock;
    this.#events = events;
    if (source.kind === 'local') {
      const read = readJwks(Buffer.from(source.jwks));
      this.#keys = 'keys' in read ? read.keys : [];
    }
    this.#retryPolicy =
      source.kind === 'remote' && source.target.retryPolicy !== undefined
        ? compileRetryPolicy(source.target.retryPolicy)
        : undefined;
  }

  /** Those that may be used now. */
  get present(): Keys | undefined {
    return this.#clock.ms < this.#endMs ? this.#keys : undefined;
  }

  /** Ahead of requests. */
  fetchFirst(done: () => void): void {
    this.want({ onKeys: done, onException: done });
  }

  want(waiter: KeysWaiter): void {
    this.#waiters.add(waiter);
    this.#fetch();
  }

  leave(waiter: KeysWaiter): void {
    this.#waiters.delete(waiter);
  }

  close(): void {
    this.#refetch.disarm();
    this.#call?.cancel();
    for (const waiter of this.#endFetch()) waiter.onKeys(undefined);
  }

  onResponse({ headers, body }: HttpResponse): void {
    const read = headers.status === 200 && body.length > 0 ? readJwks(body) : undefined;
    this.#settle(read !== undefined && 'keys' in read ? read.keys : undefined);
  }

  onFailure(): void {
    this.#settle(undefined);
  }

  onTimer(): void {
    this.#fetch();
  }

  /** Waiting requests hear of it by themselves. */
  onException(): void {
    const waiters = this.#endFetch();
    this.#plan(false);
    for (const waiter of waiters) waiter.onException();
  }

  /** One at a time. */
  #fetch(): void {
    const { services } = this.#context;
    if (this.#isFetching || this.#source.kind !== 'remote') return;
    const { target } = this.#source;
    const headers = new HeaderMap();
    headers.method = 'GET';
    headers.path = target.path;
    headers.authority = target.authority;
    headers.scheme = target.scheme;
    headers.add('user-agent', USER_AGENT);
    this.#isFetching = true;
    const request = {
      cluster: target.cluster,
      headers,
      body: undefined,
      timeoutMs: target.timeoutMs,
      responseBytesMax: JWKS_BYTES_MAX,
      connection: undefined,
      tellsAddress: true,
      retryPolicy: this.#retryPolicy,
    };
    const call = HttpCall.start(services, request, this);
    if (this.#isFetching) this.#call = call;
  }

  #settle(keys: Keys | undefined): void {
    const waiters = this.#endFetch();
    this.#events.fetched(keys !== undefined);
    const source = this.#source as Remote;
    if (keys !== undefined) {
      this.#keys = keys;
      this.#endMs = this.#clock.ms + source.cacheMs;
      this.#events.changed();
    }
    this.#plan(keys !== undefined);
    for (const waiter of waiters) waiter.onKeys(keys);
  }

  #endFetch(): readonly KeysWaiter[] {
    this.#isFetching = false;
    this.#call = undefined;
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    return waiters;
  }

  #plan(isGood: boolean): void {
    const { asyncFetch, cacheMs } = this.#source as Remote;
    if (asyncFetch === undefined) return;
    const goodMs = cacheMs > REFETCH_AHEAD_MS ? cacheMs - REFETCH_AHEAD_MS : cacheMs;
    const delayMs = Math.max(REFETCH_MIN_MS, isGood ? goodMs : asyncFetch.failedRefetchMs);
    this.#context.loop.timers.list(delayMs).arm(this.#refetch);
  }
}
