/** One request and its response as modules see them. Made per request; parts are made when asked for. */
import type {
  Connection,
  Fetch,
  RequestHeaders,
  ResponseHeaders,
  Route,
  Stream,
} from '../../../../shared/scripts/filter.ts';
import type { Endable } from '../../../../shared/process/exceptions.ts';
import { dictionary, type Struct } from '../../../../shared/text/dictionary.ts';
import { LoopTimer, type TimerOwner } from '../../../loop/timers.ts';
import { connectionOf } from '../../../net/shown-connection.ts';
import { FilterState } from '../../../net/filter-state.ts';
import type { FilterCallbacks } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { filterStateOf } from '../../../stream/stream-info.ts';
import { ScriptCalls } from './script-fetch.ts';
import { ScriptRequestHeaders, ScriptResponseHeaders } from './script-headers.ts';
import type { ScriptInstance } from './script-instance.ts';

/** The limit of one stream. */
const TIMERS_MAX = 100;
const DELAY_MAX_MS = 86_400_000;
/** The limit of one stream's metadata, and of its filter state. */
const KEYS_MAX = 1_000;

export class ScriptStream implements Stream {
  readonly #instance: ScriptInstance;
  readonly #callbacks: FilterCallbacks;
  state: unknown = undefined;
  request: RequestHeaders;
  #response: HeaderMap | undefined = undefined;
  #shownResponse: ResponseHeaders | undefined = undefined;
  #calls: ScriptCalls | undefined = undefined;
  #abort: AbortController | undefined = undefined;
  #timers: Set<StreamTimer> | undefined = undefined;
  #isOver = false;

  constructor(instance: ScriptInstance, callbacks: FilterCallbacks, headers: HeaderMap) {
    this.#instance = instance;
    this.#callbacks = callbacks;
    this.request = new ScriptRequestHeaders(headers);
  }

  /** A local reply takes the place of a response that was there. */
  takeResponse(headers: HeaderMap): void {
    this.#response = headers;
    this.#shownResponse = undefined;
  }

  get response(): ResponseHeaders | undefined {
    return this.#response && this.takenResponse;
  }

  /** Made for those that look at it. */
  get takenResponse(): ResponseHeaders {
    if (this.#response === undefined) throw new Error('there is no response');
    return (this.#shownResponse ??= new ScriptResponseHeaders(this.#response));
  }

  get connection(): Connection {
    return connectionOf(this.#callbacks.info.connection);
  }

  get route(): Route | undefined {
    const { route } = this.#callbacks;
    if (route === undefined) return undefined;
    return {
      name: route.routeName,
      virtualHost: route.virtualHost.name,
      cluster: route.kind === 'cluster' ? route.clusterName : '',
      metadata: (namespace) => structuredClone(route.metadata?.[namespace]),
    };
  }

  get requestId(): string {
    return this.#callbacks.info.requestId;
  }

  get protocol(): string {
    return this.#callbacks.info.protocol ?? '';
  }

  get clientAddress(): string {
    return this.#callbacks.info.downstreamRemoteAddress.text;
  }

  getMetadata(namespace: string, key: string): unknown {
    const values = this.#callbacks.info.dynamicMetadata?.get(namespace);
    return values !== undefined && Object.hasOwn(values, key) ? values[key] : undefined;
  }

  setMetadata(namespace: string, key: string, value: unknown): void {
    // What is no JSON could not be written down.
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined) throw new TypeError(`the value of ${key} cannot be kept`);
    const { info } = this.#callbacks;
    const all = (info.dynamicMetadata ??= new Map<string, Struct>());
    const known = Object.entries(all.get(namespace) ?? {});
    if (all.size + known.length > KEYS_MAX) throw new RangeError('too much metadata');
    all.set(namespace, dictionary([...known, [key, JSON.parse(text)]]));
  }

  getFilterState(key: string): string | undefined {
    return filterStateOf(this.#callbacks.info, key);
  }

  setFilterState(key: string, value: string): void {
    const kept = (this.#callbacks.info.filterState ??= new FilterState());
    if (kept.size > KEYS_MAX) throw new RangeError('too much filter state');
    kept.keep(key, String(value), false);
  }

  clearRoute(): void {
    this.#callbacks.clearRoute();
  }

  get fetch(): Fetch {
    this.#calls ??= new ScriptCalls(this.#instance.context, this.#instance.budget, {
      owner: this.#callbacks,
      connection: this.#callbacks.info.connection,
    });
    return this.#calls.fetch;
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#isOver) this.#abort.abort();
    return this.#abort.signal;
  }

  after(delayMs: number, act: () => void): () => void {
    if (this.#isOver) return () => undefined;
    const timers = (this.#timers ??= new Set());
    if (timers.size >= TIMERS_MAX) throw new RangeError('too many timers');
    const timer = new StreamTimer(this.#instance, this.#callbacks, () => {
      timers.delete(timer);
      act();
    });
    timers.add(timer);
    timer.arm(delayMs);
    return () => {
      timer.end();
      timers.delete(timer);
    };
  }

  end(): void {
    this.#isOver = true;
    for (const timer of this.#timers ?? []) timer.end();
    this.#timers?.clear();
    this.#calls?.end();
    this.#abort?.abort();
  }
}

/** One that a module has asked for. */
class StreamTimer implements TimerOwner {
  readonly #instance: ScriptInstance;
  readonly #owner: Endable;
  readonly #act: () => void;
  readonly #timer = new LoopTimer(this, 0);

  constructor(instance: ScriptInstance, owner: Endable, act: () => void) {
    this.#instance = instance;
    this.#owner = owner;
    this.#act = act;
  }

  arm(delayMs: number): void {
    const { timers } = this.#instance.context.loop;
    timers.list(Math.min(Math.max(delayMs, 1), DELAY_MAX_MS)).arm(this.#timer);
  }

  end(): void {
    this.#timer.disarm();
  }

  onTimer(): void {
    this.#instance.guard(this.#owner, this.#act);
  }

  onException(): void {
    this.#owner.onException();
  }
}
