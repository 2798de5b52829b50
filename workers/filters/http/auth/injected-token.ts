/**
 * A token for the proxy itself: fetched at the start, again after half of its time, and after a
 * pause where it could not be fetched. The last good one serves meanwhile.
 */
import {
  INJECTED_TOKEN,
  type TokenCredential,
} from '../../../../shared/resources/filters/http/auth/credential-injector.ts';
import { urlEncode } from '../../../../shared/text/percent-encoding.ts';
import { LoopTimer, type TimerOwner } from '../../../loop/timers.ts';
import { HttpCall, type HttpCallOwner, type HttpResponse } from '../../../services/http-call.ts';
import type { CallFailure } from '../../../services/service-client.ts';
import { HeaderMap } from '../../../stream/header-map.ts';
import { secretText } from '../../common/generic-secret.ts';
import { ANSWER_BYTES_MAX, readTokenAnswer } from '../../common/token-answer.ts';
import type { FilterContext } from '../../filter-context.ts';

/** What such requests say of themselves in Envoy. */
const USER_AGENT = 'Go-browser';
/** A listener waits this long for the first token. */
const FIRST_WAIT_MS = 1000;
const REFETCH_MIN_MS = 500;
const REFETCH_MAX_MS = 2 ** 31 - 1;

const FETCH = 0;
const GIVE_UP_WAITING = 1;

type Stat = keyof typeof INJECTED_TOKEN.index;

export class InjectedToken implements HttpCallOwner, TimerOwner {
  readonly #credential: TokenCredential;
  readonly #context: FilterContext;
  readonly #base: number;
  readonly #refetch = new LoopTimer(this, FETCH);
  readonly #firstWait = new LoopTimer(this, GIVE_UP_WAITING);
  #token = '';
  #call: HttpCall | undefined = undefined;
  #isFetching = false;
  #isClosed = false;
  #onFirst: (() => void) | undefined = undefined;

  constructor(credential: TokenCredential, context: FilterContext) {
    this.#credential = credential;
    this.#context = context;
    const { stats, statScope, startTasks } = context;
    this.#base = stats.defineBlock(INJECTED_TOKEN, `${statScope}credential_injector.oauth2.`);
    context.onBlock(this.#base);
    context.onRelease(() => this.#close());
    startTasks.add((done) => this.#begin(done), true);
  }

  /** The value of the header; empty while there is none. */
  get value(): string {
    return this.#token;
  }

  onTimer(kind: number): void {
    if (kind === FETCH) this.#fetch();
    else this.#endWait();
  }

  onResponse({ headers, body }: HttpResponse): void {
    if (headers.status !== 200) return this.#fail('token_fetch_failed_on_bad_response_code');
    const answer = readTokenAnswer(body, 0);
    if (!('tokens' in answer)) return this.#fail('token_fetch_failed_on_bad_token');
    this.#count('token_fetched');
    const { access, expiresSeconds } = answer.tokens;
    this.#token = `Bearer ${access}`;
    this.#end(Math.min(REFETCH_MAX_MS, Math.max(REFETCH_MIN_MS, (expiresSeconds * 1000) / 2)));
  }

  onFailure({ status, details }: CallFailure): void {
    if (details === 'cluster_not_found') {
      return this.#fail('token_fetch_failed_on_cluster_not_found');
    }
    this.#fail(
      status === 504
        ? 'token_fetch_failed_on_bad_response_code'
        : 'token_fetch_failed_on_stream_reset',
    );
  }

  onException(): void {
    if (this.#isFetching) this.#end(this.#credential.retryMs);
  }

  #begin(done: () => void): void {
    this.#onFirst = done;
    this.#context.loop.timers.list(FIRST_WAIT_MS).arm(this.#firstWait);
    this.#fetch();
  }

  #fetch(): void {
    if (this.#isFetching || this.#isClosed) return;
    const { endpoint, secret, formHead, formTail } = this.#credential;
    const text = secret && secretText(secret, this.#context.secrets);
    if (text === '') return this.#fail('token_fetch_failed_on_client_secret');
    const proof = text === undefined ? '' : `&client_secret=${urlEncode(text)}`;
    const body = Buffer.from(formHead + proof + formTail, 'latin1');
    this.#isFetching = true;
    const request = {
      cluster: endpoint.cluster,
      headers: this.#headers(body.length),
      body,
      timeoutMs: endpoint.timeoutMs,
      responseBytesMax: ANSWER_BYTES_MAX,
      connection: undefined,
      tellsAddress: true,
    };
    if (this.#context.callCluster(endpoint.cluster) !== undefined) this.#count('token_requested');
    const call = HttpCall.start(this.#context.services, request, this);
    if (this.#isFetching) this.#call = call;
  }

  #headers(length: number): HeaderMap {
    const { endpoint } = this.#credential;
    const headers = new HeaderMap();
    headers.method = 'POST';
    headers.path = endpoint.path;
    headers.authority = endpoint.authority;
    headers.scheme = endpoint.scheme;
    headers.add('content-type', 'application/x-www-form-urlencoded');
    headers.add('user-agent', USER_AGENT);
    headers.add('accept', 'application/json');
    headers.add('content-length', String(length));
    return headers;
  }

  #fail(stat: Stat): void {
    this.#count(stat);
    this.#end(this.#credential.retryMs);
  }

  /** Fetches again later. */
  #end(delayMs: number): void {
    this.#isFetching = false;
    this.#call = undefined;
    this.#endWait();
    if (!this.#isClosed) {
      this.#context.loop.timers.list(Math.max(1, delayMs)).arm(this.#refetch);
    }
  }

  #endWait(): void {
    this.#firstWait.disarm();
    const onFirst = this.#onFirst;
    this.#onFirst = undefined;
    onFirst?.();
  }

  #close(): void {
    this.#isClosed = true;
    this.#refetch.disarm();
    this.#call?.cancel();
    this.#endWait();
  }

  #count(stat: Stat): void {
    this.#context.stats.increment(this.#base + INJECTED_TOKEN.index[stat]);
  }
}
