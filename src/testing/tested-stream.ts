/**
 * One request of a test and its response: the filter stands in the chain that workers have, between
 * a client and an upstream that are the test's.
 */
import { type ChainStream, FilterChain } from '../../workers/filter-chain/filter-chain.ts';
import {
  buildLocalReply,
  internalError,
  tooLarge,
} from '../../workers/filter-chain/local-reply.ts';
import type { HeldBytes } from '../../workers/loop/held-bytes.ts';
import type { WorkerLoop } from '../../workers/loop/worker-loop.ts';
import type { FilterFactory, LocalReply } from '../../workers/stream/filter.ts';
import type { HeaderMap } from '../../workers/stream/header-map.ts';
import type { ResolvedRoute } from '../../workers/stream/route.ts';
import type { StreamInfo } from '../../workers/stream/stream-info.ts';
import { Collected, CollectedRequest, type Message, responseMessage } from './tested-messages.ts';
import type { TestResult, Upstream } from './testing-api.ts';

export interface TestedStreamParts {
  readonly loop: WorkerLoop;
  readonly factory: FilterFactory;
  readonly info: StreamInfo;
  readonly route: ResolvedRoute;
  readonly bufferLimitBytes: number;
  readonly upstream: Upstream;
}

/** Who waits until a side may go on. */
class Gate {
  #pauses = 0;
  #waiting: (() => void)[] = [];

  get isPaused(): boolean {
    return this.#pauses > 0;
  }

  pause(isPaused: boolean): void {
    this.#pauses += isPaused ? 1 : -1;
    if (!this.isPaused) this.open();
  }

  open(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const act of waiting) act();
  }

  async passed(): Promise<void> {
    if (this.isPaused) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

export class TestedStream implements ChainStream {
  readonly info: StreamInfo;
  readonly route: ResolvedRoute;
  readonly result: Promise<TestResult>;
  readonly #parts: TestedStreamParts;
  readonly #chain: FilterChain;
  readonly #gates = { request: new Gate(), response: new Gate() };
  #resolve: (result: TestResult) => void = () => undefined;
  #sent: CollectedRequest | undefined = undefined;
  #received: Collected | undefined = undefined;
  #isAnsweredHere = false;
  #isDone = false;

  constructor(parts: TestedStreamParts) {
    this.#parts = parts;
    this.info = parts.info;
    this.route = parts.route;
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#chain = new FilterChain(this, [parts.factory], {
      decodeHeaders: (headers, endStream) => this.#sendHeaders(headers, endStream),
      decodeData: (data, endStream) => this.#sendData(data, endStream),
      decodeTrailers: (trailers) => this.#sendTrailers(trailers),
    });
  }

  /** The client's side. */
  async send({ headers, pieces, trailers }: Message): Promise<void> {
    const isAll = pieces.length === 0 && trailers === undefined;
    this.#run(() => this.#chain.decodeHeaders(headers, isAll));
    for (const [at, data] of pieces.entries()) {
      await this.#gates.request.passed();
      const isLast = at === pieces.length - 1 && trailers === undefined;
      this.info.bytesReceived += data.length;
      this.#run(() => {
        if (this.isRequestDropped) return;
        this.#chain.decodeData(data, isLast);
        this.checkHeldBytes();
      });
    }
    if (trailers === undefined) return;
    await this.#gates.request.passed();
    this.#run(() => {
      if (!this.isRequestDropped) this.#chain.decodeTrailers(trailers);
    });
  }

  /** The upstream's. */
  async #answer(request: CollectedRequest): Promise<void> {
    let response: Message;
    try {
      response = responseMessage((await this.#parts.upstream(request)) ?? {});
    } catch (error) {
      const text = `the upstream broke off: ${String(error)}`;
      this.#run(() => this.sendLocalReply({ status: 503, body: text, details: 'upstream_reset' }));
      return;
    }
    const { headers, pieces, trailers } = response;
    const give = async (act: () => void): Promise<void> => {
      await this.#gates.response.passed();
      this.#run(() => {
        if (!this.#isAnsweredHere) act();
      });
    };
    await give(() =>
      this.#chain.encodeHeaders(headers, pieces.length === 0 && trailers === undefined),
    );
    for (const [at, data] of pieces.entries()) {
      const isLast = at === pieces.length - 1 && trailers === undefined;
      await give(() => {
        this.#chain.encodeData(data, isLast);
        this.checkHeldBytes();
      });
    }
    if (trailers !== undefined) await give(() => this.#chain.encodeTrailers(trailers));
  }

  get heldByAll(): HeldBytes {
    return this.#parts.loop.held;
  }

  get isRequestDropped(): boolean {
    return this.#isDone || this.#isAnsweredHere;
  }

  takeEvent(): void {
    this.#parts.loop.current = this;
  }

  routeConfig(): unknown {
    return undefined;
  }

  routeConfigs(): readonly unknown[] {
    return [];
  }

  clearRoute(): void {
    // There is one.
  }

  pauseRequest(isPaused: boolean): void {
    this.#gates.request.pause(isPaused);
  }

  pauseResponse(isPaused: boolean): void {
    this.#gates.response.pause(isPaused);
  }

  isPaused(side: 'request' | 'response'): boolean {
    return this.#gates[side].isPaused;
  }

  checkHeldBytes(): void {
    const side = this.#chain.overfullSide(this.#parts.bufferLimitBytes);
    if (side !== undefined && !this.isRequestDropped) this.sendLocalReply(tooLarge[side]);
  }

  /** As connection managers answer. */
  sendLocalReply(reply: LocalReply): void {
    if (this.#isDone || (this.#isAnsweredHere && reply.replacesAnswer !== true)) return;
    this.info.responseCodeDetails = reply.details;
    this.#isAnsweredHere = true;
    if (this.#received !== undefined) return this.resetStream();
    const { headers, body } = buildLocalReply(reply, this.info, undefined);
    this.#chain.encodeHeaders(headers, body === undefined);
    if (body !== undefined) this.#chain.encodeData(body, true);
  }

  restartRequest(): void {
    throw new Error('the request of a test does not begin again');
  }

  resetStream(): void {
    this.#finish(true);
  }

  onException(): void {
    this.#isAnsweredHere = true;
    if (this.#received === undefined) this.writeHeaders(internalError(), true);
    else this.resetStream();
  }

  writeHeaders(headers: HeaderMap, endStream: boolean): void {
    if (this.#isDone) return;
    this.info.responseCode = headers.status;
    this.info.responseHeaders = headers;
    this.#received = new Collected(headers);
    if (endStream) this.#finish(false);
  }

  writeData(data: Buffer, endStream: boolean): void {
    if (this.#isDone) return;
    this.info.bytesSent += data.length;
    this.#received?.add(data);
    if (endStream) this.#finish(false);
  }

  writeTrailers(trailers: HeaderMap): void {
    if (this.#isDone) return;
    this.#received?.end(trailers);
    this.#finish(false);
  }

  #sendHeaders(headers: HeaderMap, endStream: boolean): void {
    this.#sent = new CollectedRequest(headers.clone());
    if (endStream) void this.#answer(this.#sent);
  }

  #sendData(data: Buffer, endStream: boolean): void {
    this.#sent?.add(data);
    if (endStream && this.#sent !== undefined) void this.#answer(this.#sent);
  }

  #sendTrailers(trailers: HeaderMap): void {
    this.#sent?.end(trailers);
    if (this.#sent !== undefined) void this.#answer(this.#sent);
  }

  #run(act: () => void): void {
    if (!this.#isDone) this.#parts.loop.run(this, act);
  }

  #finish(isReset: boolean): void {
    if (this.#isDone) return;
    this.#isDone = true;
    const { loop } = this.#parts;
    this.info.endMs = loop.clock.ms;
    this.#chain.destroy(loop);
    this.#gates.request.open();
    this.#gates.response.open();
    this.#resolve(this.#resultOf(isReset));
  }

  #resultOf(isReset: boolean): TestResult {
    const { info } = this;
    const received = this.#received ?? new Collected(internalError());
    return {
      status: this.#received?.map.status ?? 0,
      headers: received.headers,
      body: received.body,
      trailers: received.trailers,
      text: () => received.text(),
      json: () => received.json(),
      isReset,
      upstream: this.#sent,
      metadata: (namespace, key) => info.dynamicMetadata?.get(namespace)?.[key],
    };
  }
}
