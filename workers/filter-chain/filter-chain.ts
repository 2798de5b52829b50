/**
 * The filters of one stream. Knows no codec; the terminal filter and the stream are its two ends.
 *
 * Requests pass filters 0, 1, …, then the terminal filter. Responses pass the same filters
 * backwards, then the stream's own writer.
 */
import type { HeldBytes } from '../loop/held-bytes.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type {
  FilterCallbacks,
  FilterFactory,
  HttpFilter,
  StreamCallbacks,
  TerminalFilter,
} from '../stream/filter.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { decodeStep, encodeStep, MessagePass } from './message-pass.ts';
import type { LocalReply } from '../stream/filter.ts';
import type { ResolvedRoute } from '../stream/route.ts';
import type { StreamInfo } from '../stream/stream-info.ts';

/** The stream as the chain needs it. */
export interface ChainStream extends Omit<
  StreamCallbacks,
  'continueDecoding' | 'continueEncoding'
> {
  /** Back-pressure towards the sender of the request: counted, balanced by the caller. */
  pauseRequest(paused: boolean): void;
  writeHeaders(headers: HeaderMap, endStream: boolean): void;
  writeData(data: Buffer, endStream: boolean): void;
  writeTrailers(trailers: HeaderMap): void;
  /** Back-pressure of filters towards the upstream: counted. */
  pauseResponse(paused: boolean): void;
  isPaused(side: 'request' | 'response'): boolean;
  /** The request is over, or was answered before it came to its end. */
  readonly isRequestDropped: boolean;
  restartRequest(): void;
  /** What the worker holds for all streams. */
  readonly heldByAll: HeldBytes;
  /** The present event works for this stream. */
  takeEvent(): void;
  /** Told after a filter passed body on by itself: what other filters hold may be too much. */
  checkHeldBytes(): void;
}

/** What takes a request behind the last of the filters. */
export type ChainEnd = Pick<TerminalFilter, 'decodeHeaders' | 'decodeData' | 'decodeTrailers'>;

/** The chain of a stream that has filters besides the terminal one. */
export class FilterChain {
  readonly #filters: HttpFilter[] = [];
  readonly #request: MessagePass;
  readonly #response: MessagePass;

  constructor(stream: ChainStream, factories: readonly FilterFactory[], terminal: ChainEnd) {
    const count = factories.length;
    factories.forEach((factory, position) => {
      const callbacks = new PositionedCallbacks(
        stream,
        () => ({ pass: this.#request, position }),
        () => ({ pass: this.#response, position: count - 1 - position }),
      );
      this.#filters.push(factory.create(callbacks));
    });
    this.#request = new MessagePass(
      this.#filters,
      decodeStep,
      {
        headers: (headers, endStream) => terminal.decodeHeaders(headers, endStream),
        data: (data, endStream) => terminal.decodeData(data, endStream),
        trailers: (trailers) => terminal.decodeTrailers(trailers),
      },
      stream.heldByAll,
    );
    this.#response = new MessagePass(
      this.#filters.toReversed(),
      encodeStep,
      {
        headers: (headers, endStream) => stream.writeHeaders(headers, endStream),
        data: (data, endStream) => stream.writeData(data, endStream),
        trailers: (trailers) => stream.writeTrailers(trailers),
      },
      stream.heldByAll,
    );
  }

  /** Where stopped filters made the chain keep more than it may, if anywhere. */
  overfullSide(limitBytes: number): 'request' | 'response' | undefined {
    if (this.#request.heldBytes > limitBytes) return 'request';
    return this.#response.heldBytes > limitBytes ? 'response' : undefined;
  }

  decodeHeaders(headers: HeaderMap, endStream: boolean): void {
    this.#request.headers(headers, endStream);
  }

  decodeData(data: Buffer, endStream: boolean): void {
    this.#request.data(data, endStream);
  }

  decodeTrailers(trailers: HeaderMap): void {
    this.#request.trailers(trailers);
  }

  encodeHeaders(headers: HeaderMap, endStream: boolean): void {
    this.#response.headers(headers, endStream);
  }

  encodeData(data: Buffer, endStream: boolean): void {
    this.#response.data(data, endStream);
  }

  encodeTrailers(trailers: HeaderMap): void {
    this.#response.trailers(trailers);
  }

  /** What a filter throws at its end keeps no other one from its own. */
  destroy(loop: Pick<WorkerLoop, 'note'>): void {
    for (const filter of this.#filters) {
      try {
        filter.onDestroy();
      } catch (error) {
        loop.note(error);
      }
    }
    this.#request.dropHeld();
    this.#response.dropHeld();
  }
}

interface PlaceInPass {
  readonly pass: MessagePass;
  readonly position: number;
}

class PositionedCallbacks implements FilterCallbacks {
  readonly #stream: ChainStream;
  readonly #requestPlace: () => PlaceInPass;
  readonly #responsePlace: () => PlaceInPass;

  constructor(
    stream: ChainStream,
    requestPlace: () => PlaceInPass,
    responsePlace: () => PlaceInPass,
  ) {
    this.#stream = stream;
    this.#requestPlace = requestPlace;
    this.#responsePlace = responsePlace;
  }

  continueDecoding(): void {
    this.#stream.takeEvent();
    const { pass, position } = this.#requestPlace();
    pass.resume(position);
  }

  continueEncoding(): void {
    this.#stream.takeEvent();
    const { pass, position } = this.#responsePlace();
    pass.resume(position);
  }

  injectRequestData(data: Buffer, endStream: boolean): void {
    this.#stream.takeEvent();
    if (this.#stream.isRequestDropped) return;
    const { pass, position } = this.#requestPlace();
    pass.injectData(position, data, endStream);
    this.#stream.checkHeldBytes();
  }

  injectRequestTrailers(trailers: HeaderMap): void {
    this.#stream.takeEvent();
    if (this.#stream.isRequestDropped) return;
    const { pass, position } = this.#requestPlace();
    pass.injectTrailers(position, trailers);
  }

  addRequestBody(data: Buffer): void {
    this.#requestPlace().pass.addBody(data, undefined);
  }

  addResponseBody(data: Buffer, trailers?: HeaderMap): void {
    this.#responsePlace().pass.addBody(data, trailers);
  }

  injectResponseData(data: Buffer, endStream: boolean): void {
    this.#stream.takeEvent();
    const { pass, position } = this.#responsePlace();
    pass.injectData(position, data, endStream);
    this.#stream.checkHeldBytes();
  }

  injectResponseTrailers(trailers: HeaderMap): void {
    this.#stream.takeEvent();
    const { pass, position } = this.#responsePlace();
    pass.injectTrailers(position, trailers);
  }

  pauseRequest(paused: boolean): void {
    this.#stream.pauseRequest(paused);
  }

  pauseResponse(paused: boolean): void {
    this.#stream.pauseResponse(paused);
  }

  isPaused(side: 'request' | 'response'): boolean {
    return this.#stream.isPaused(side);
  }

  get info(): StreamInfo {
    return this.#stream.info;
  }

  get route(): ResolvedRoute | undefined {
    return this.#stream.route;
  }

  routeConfig(filterName: string): unknown {
    return this.#stream.routeConfig(filterName);
  }

  routeConfigs(filterName: string): readonly unknown[] {
    return this.#stream.routeConfigs(filterName);
  }

  clearRoute(): void {
    this.#stream.clearRoute();
  }

  sendLocalReply(reply: LocalReply): void {
    this.#stream.sendLocalReply(reply);
  }

  restartRequest(): void {
    this.#stream.restartRequest();
  }

  resetStream(): void {
    this.#stream.resetStream();
  }

  onException(): void {
    this.#stream.onException();
  }
}
