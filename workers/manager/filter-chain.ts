/**
 * Runs one request and its response through the filters of a stream: iteration, stops and the bytes
 * that wait at a stopped filter. Knows no codec; the terminal filter and the stream are its two
 * ends.
 *
 * Requests pass filters 0, 1, …, then the terminal filter. Responses pass the same filters
 * backwards, then the stream's own writer. At each of them the message may be stopped; what follows
 * its headers gathers in `held` until the filter goes on. One filter at a time may hold a
 * direction.
 */
import type { HeldBytes } from '../loop/held-bytes.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  HttpFilter,
  TerminalCallbacks,
  TerminalFilter,
  TrailersStatus,
} from '../stream/filter.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { LocalReply } from '../stream/filter.ts';
import type { ResolvedRoute } from '../stream/route.ts';
import type { StreamInfo } from '../stream/stream-info.ts';

/** The far end of a direction: the terminal filter, or the stream's writer. */
interface MessageSink {
  headers(headers: HeaderMap, endStream: boolean): void;
  data(data: Buffer, endStream: boolean): void;
  trailers(trailers: HeaderMap): void;
}

/** One direction's view of a filter. */
interface MessageStep {
  headers(filter: HttpFilter, headers: HeaderMap, endStream: boolean): HeadersStatus;
  data(filter: HttpFilter, data: Buffer, endStream: boolean): DataStatus;
  trailers(filter: HttpFilter, trailers: HeaderMap): TrailersStatus;
}

const decodeStep: MessageStep = {
  headers: (filter, headers, endStream) => filter.decodeHeaders(headers, endStream),
  data: (filter, data, endStream) => filter.decodeData(data, endStream),
  trailers: (filter, trailers) => filter.decodeTrailers(trailers),
};

const encodeStep: MessageStep = {
  headers: (filter, headers, endStream) => filter.encodeHeaders(headers, endStream),
  data: (filter, data, endStream) => filter.encodeData(data, endStream),
  trailers: (filter, trailers) => filter.encodeTrailers(trailers),
};

const NOT_STOPPED = -1;

/** A message on its way through the filters in one direction. */
class MessagePass {
  private readonly filters: readonly HttpFilter[];
  private readonly step: MessageStep;
  private readonly sink: MessageSink;
  /** Position of the filter that holds the message. */
  private stoppedAt = NOT_STOPPED;
  /** The holder has not let the headers pass yet. */
  private headersHeld: HeaderMap | undefined = undefined;
  private readonly heldByAll: HeldBytes;
  private held: Buffer[] = [];
  heldBytes = 0;
  private trailersHeld: HeaderMap | undefined = undefined;
  /** The message ends with the held headers, or with the held body. */
  private endsAtHeaders = false;
  private endsAtData = false;

  /** `filters` in the order in which this direction meets them. */
  constructor(
    filters: readonly HttpFilter[],
    step: MessageStep,
    sink: MessageSink,
    heldByAll: HeldBytes,
  ) {
    this.filters = filters;
    this.step = step;
    this.sink = sink;
    this.heldByAll = heldByAll;
  }

  headers(headers: HeaderMap, endStream: boolean): void {
    this.headersFrom(0, headers, endStream);
  }

  data(data: Buffer, endStream: boolean): void {
    this.dataFrom(0, data, endStream);
  }

  trailers(trailers: HeaderMap): void {
    this.trailersFrom(0, trailers);
  }

  /** What the filter at `position` made of pieces that it took. */
  injectData(position: number, data: Buffer, endStream: boolean): void {
    this.dataFrom(position + 1, data, endStream);
  }

  injectTrailers(position: number, trailers: HeaderMap): void {
    this.trailersFrom(position + 1, trailers);
  }

  /** The filter at `position` goes on; nothing happens when it holds nothing. */
  resume(position: number): void {
    if (this.stoppedAt !== position) return;
    const headers = this.headersHeld;
    const { held, trailersHeld, endsAtHeaders, endsAtData } = this;
    this.stoppedAt = NOT_STOPPED;
    this.headersHeld = undefined;
    this.dropHeld();
    this.trailersHeld = undefined;
    this.endsAtHeaders = false;
    this.endsAtData = false;
    if (headers !== undefined) this.headersFrom(position + 1, headers, endsAtHeaders);
    if (held.length > 0 || endsAtData) {
      const [only] = held;
      const data = held.length === 1 && only !== undefined ? only : Buffer.concat(held);
      this.dataFrom(position + 1, data, endsAtData);
    }
    if (trailersHeld !== undefined) this.trailersFrom(position + 1, trailersHeld);
  }

  dropHeld(): void {
    this.heldByAll.add(-this.heldBytes);
    this.held = [];
    this.heldBytes = 0;
  }

  private headersFrom(start: number, headers: HeaderMap, endStream: boolean): void {
    const { filters } = this;
    for (let at = start; at < filters.length; at++) {
      const filter = filters[at];
      if (filter === undefined) continue;
      if (this.step.headers(filter, headers, endStream) === 'continue') continue;
      this.stoppedAt = at;
      this.headersHeld = headers;
      this.endsAtHeaders = endStream;
      return;
    }
    this.sink.headers(headers, endStream);
  }

  private dataFrom(start: number, data: Buffer, endStream: boolean): void {
    const { filters } = this;
    for (let at = start; at < filters.length; at++) {
      const filter = filters[at];
      if (filter === undefined) continue;
      const status = this.step.data(filter, data, endStream);
      if (status === 'taken') return;
      if (status === 'continue') {
        if (this.stoppedAt !== at) continue;
        // The holder lets its headers and what was gathered go with this piece.
        this.hold(data);
        this.endsAtData = endStream;
        this.resume(at);
        return;
      }
      this.stoppedAt = at;
      this.endsAtData = endStream;
      if (status === 'stop_and_buffer') this.hold(data);
      return;
    }
    this.sink.data(data, endStream);
  }

  private trailersFrom(start: number, trailers: HeaderMap): void {
    const { filters } = this;
    for (let at = start; at < filters.length; at++) {
      const filter = filters[at];
      if (filter === undefined) continue;
      const status = this.step.trailers(filter, trailers);
      if (status === 'taken') return;
      if (status === 'continue' && this.stoppedAt !== at) continue;
      this.trailersHeld = trailers;
      if (status === 'continue') this.resume(at);
      else this.stoppedAt = at;
      return;
    }
    this.sink.trailers(trailers);
  }

  private hold(data: Buffer): void {
    if (data.length === 0) return;
    this.held.push(Buffer.from(data));
    this.heldBytes += data.length;
    this.heldByAll.add(data.length);
  }
}

/** The stream as the chain needs it. */
export interface ChainStream extends TerminalCallbacks {
  writeHeaders(headers: HeaderMap, endStream: boolean): void;
  writeData(data: Buffer, endStream: boolean): void;
  writeTrailers(trailers: HeaderMap): void;
  /** Back-pressure of filters towards the upstream: counted. */
  pauseResponse(paused: boolean): void;
  /** The request is over, or was answered before it came to its end. */
  readonly isRequestDropped: boolean;
  /** What the worker holds for all streams. */
  readonly heldByAll: HeldBytes;
  /** The present event works for this stream. */
  takeEvent(): void;
  /** Told after a filter passed body on by itself: what other filters hold may be too much. */
  checkHeldBytes(): void;
}

/** The chain of a stream whose connection manager has filters besides the terminal one. */
export class FilterChain {
  private readonly filters: HttpFilter[] = [];
  private readonly request: MessagePass;
  private readonly response: MessagePass;

  constructor(stream: ChainStream, factories: readonly FilterFactory[], terminal: TerminalFilter) {
    const count = factories.length;
    factories.forEach((factory, position) => {
      const callbacks = new PositionedCallbacks(
        stream,
        () => ({ pass: this.request, position }),
        () => ({ pass: this.response, position: count - 1 - position }),
      );
      this.filters.push(factory.create(callbacks));
    });
    this.request = new MessagePass(
      this.filters,
      decodeStep,
      {
        headers: (headers, endStream) => terminal.decodeHeaders(headers, endStream),
        data: (data, endStream) => terminal.decodeData(data, endStream),
        trailers: (trailers) => terminal.decodeTrailers(trailers),
      },
      stream.heldByAll,
    );
    this.response = new MessagePass(
      this.filters.toReversed(),
      encodeStep,
      {
        headers: (headers, endStream) => stream.writeHeaders(headers, endStream),
        data: (data, endStream) => stream.writeData(data, endStream),
        trailers: (trailers) => stream.writeTrailers(trailers),
      },
      stream.heldByAll,
    );
  }

  /** Bytes that stopped filters made the chain keep, by direction. */
  get heldRequestBytes(): number {
    return this.request.heldBytes;
  }

  get heldResponseBytes(): number {
    return this.response.heldBytes;
  }

  decodeHeaders(headers: HeaderMap, endStream: boolean): void {
    this.request.headers(headers, endStream);
  }

  decodeData(data: Buffer, endStream: boolean): void {
    this.request.data(data, endStream);
  }

  decodeTrailers(trailers: HeaderMap): void {
    this.request.trailers(trailers);
  }

  encodeHeaders(headers: HeaderMap, endStream: boolean): void {
    this.response.headers(headers, endStream);
  }

  encodeData(data: Buffer, endStream: boolean): void {
    this.response.data(data, endStream);
  }

  encodeTrailers(trailers: HeaderMap): void {
    this.response.trailers(trailers);
  }

  /** What a filter throws at its end keeps no other one from its own. */
  destroy(loop: Pick<WorkerLoop, 'note'>): void {
    for (const filter of this.filters) {
      try {
        filter.onDestroy();
      } catch (error) {
        loop.note(error);
      }
    }
    this.request.dropHeld();
    this.response.dropHeld();
  }
}

interface PlaceInPass {
  readonly pass: MessagePass;
  readonly position: number;
}

class PositionedCallbacks implements FilterCallbacks {
  private readonly stream: ChainStream;
  private readonly requestPlace: () => PlaceInPass;
  private readonly responsePlace: () => PlaceInPass;

  constructor(
    stream: ChainStream,
    requestPlace: () => PlaceInPass,
    responsePlace: () => PlaceInPass,
  ) {
    this.stream = stream;
    this.requestPlace = requestPlace;
    this.responsePlace = responsePlace;
  }

  continueDecoding(): void {
    this.stream.takeEvent();
    const { pass, position } = this.requestPlace();
    pass.resume(position);
  }

  continueEncoding(): void {
    this.stream.takeEvent();
    const { pass, position } = this.responsePlace();
    pass.resume(position);
  }

  injectRequestData(data: Buffer, endStream: boolean): void {
    this.stream.takeEvent();
    if (this.stream.isRequestDropped) return;
    const { pass, position } = this.requestPlace();
    pass.injectData(position, data, endStream);
    this.stream.checkHeldBytes();
  }

  injectRequestTrailers(trailers: HeaderMap): void {
    this.stream.takeEvent();
    if (this.stream.isRequestDropped) return;
    const { pass, position } = this.requestPlace();
    pass.injectTrailers(position, trailers);
  }

  injectResponseData(data: Buffer, endStream: boolean): void {
    this.stream.takeEvent();
    const { pass, position } = this.responsePlace();
    pass.injectData(position, data, endStream);
    this.stream.checkHeldBytes();
  }

  injectResponseTrailers(trailers: HeaderMap): void {
    this.stream.takeEvent();
    const { pass, position } = this.responsePlace();
    pass.injectTrailers(position, trailers);
  }

  pauseRequest(paused: boolean): void {
    this.stream.pauseRequest(paused);
  }

  pauseResponse(paused: boolean): void {
    this.stream.pauseResponse(paused);
  }

  get info(): StreamInfo {
    return this.stream.info;
  }

  get route(): ResolvedRoute | undefined {
    return this.stream.route;
  }

  routeConfig(filterName: string): unknown {
    return this.stream.routeConfig(filterName);
  }

  routeConfigs(filterName: string): readonly unknown[] {
    return this.stream.routeConfigs(filterName);
  }

  clearRoute(): void {
    this.stream.clearRoute();
  }

  sendLocalReply(reply: LocalReply): void {
    this.stream.sendLocalReply(reply);
  }

  resetStream(): void {
    this.stream.resetStream();
  }

  onException(): void {
    this.stream.onException();
  }
}
