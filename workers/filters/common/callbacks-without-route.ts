/**
 * What a filter within another one may ask of its stream: everything but settings of the route,
 * which are the outer filter's.
 */
import type { FilterCallbacks, LocalReply } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { ResolvedRoute } from '../../stream/route.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';

export class CallbacksWithoutRoute implements FilterCallbacks {
  readonly #callbacks: FilterCallbacks;

  constructor(callbacks: FilterCallbacks) {
    this.#callbacks = callbacks;
  }

  get info(): StreamInfo {
    return this.#callbacks.info;
  }

  get route(): ResolvedRoute | undefined {
    return this.#callbacks.route;
  }

  routeConfig(): undefined {
    return undefined;
  }

  routeConfigs(): readonly unknown[] {
    return [];
  }

  clearRoute(): void {
    this.#callbacks.clearRoute();
  }

  continueDecoding(): void {
    this.#callbacks.continueDecoding();
  }

  continueEncoding(): void {
    this.#callbacks.continueEncoding();
  }

  sendLocalReply(reply: LocalReply): void {
    this.#callbacks.sendLocalReply(reply);
  }

  restartRequest(): void {
    this.#callbacks.restartRequest();
  }

  resetStream(): void {
    this.#callbacks.resetStream();
  }

  onException(): void {
    this.#callbacks.onException();
  }

  injectRequestData(data: Buffer, endStream: boolean): void {
    this.#callbacks.injectRequestData(data, endStream);
  }

  injectRequestTrailers(trailers: HeaderMap): void {
    this.#callbacks.injectRequestTrailers(trailers);
  }

  injectResponseData(data: Buffer, endStream: boolean): void {
    this.#callbacks.injectResponseData(data, endStream);
  }

  injectResponseTrailers(trailers: HeaderMap): void {
    this.#callbacks.injectResponseTrailers(trailers);
  }

  addRequestBody(data: Buffer): void {
    this.#callbacks.addRequestBody(data);
  }

  addResponseBody(data: Buffer, trailers?: HeaderMap): void {
    this.#callbacks.addResponseBody(data, trailers);
  }

  pauseRequest(paused: boolean): void {
    this.#callbacks.pauseRequest(paused);
  }

  pauseResponse(paused: boolean): void {
    this.#callbacks.pauseResponse(paused);
  }

  isPaused(side: 'request' | 'response'): boolean {
    return this.#callbacks.isPaused(side);
  }
}
