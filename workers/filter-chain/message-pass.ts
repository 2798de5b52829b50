/**
 * One message on its way through the filters of a stream in one direction: iteration, stops and the
 * bytes that wait at a stopped filter.
 *
 * At each filter the message may be stopped; what follows its headers gathers in `held` until the
 * filter goes on. One filter at a time may hold a direction.
 */
import { CollectedBytes } from '../../shared/bytes/collected-bytes.ts';
import type { HeldBytes } from '../loop/held-bytes.ts';
import type { DataStatus, HeadersStatus, HttpFilter, TrailersStatus } from '../stream/filter.ts';
import type { HeaderMap } from '../stream/header-map.ts';

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

export const decodeStep: MessageStep = {
  headers: (filter, headers, endStream) => filter.decodeHeaders(headers, endStream),
  data: (filter, data, endStream) => filter.decodeData(data, endStream),
  trailers: (filter, trailers) => filter.decodeTrailers(trailers),
};

export const encodeStep: MessageStep = {
  headers: (filter, headers, endStream) => filter.encodeHeaders(headers, endStream),
  data: (filter, data, endStream) => filter.encodeData(data, endStream),
  trailers: (filter, trailers) => filter.encodeTrailers(trailers),
};

interface AddedBody {
  readonly data: Buffer;
  /** Undefined: the body ends the message. */
  readonly trailers: HeaderMap | undefined;
}

const NOT_STOPPED = -1;
const NOTHING = Buffer.alloc(0);

/** A message on its way through the filters in one direction. */
export class MessagePass {
  readonly #filters: readonly HttpFilter[];
  readonly #step: MessageStep;
  readonly #sink: MessageSink;
  /** Position of the filter that holds the message. */
  #stoppedAt = NOT_STOPPED;
  /** The holder has not let the headers pass yet. */
  #headersHeld: HeaderMap | undefined = undefined;
  readonly #heldByAll: HeldBytes;
  /** Made with the first piece. */
  #held: CollectedBytes | undefined = undefined;
  heldBytes = 0;
  #trailersHeld: HeaderMap | undefined = undefined;
  /** What the filter at work puts behind headers that were all. */
  #added: AddedBody | undefined = undefined;
  /** The message ends with the held headers, or with the held body. */
  #endsAtHeaders = false;
  #endsAtData = false;

  /** `filters` in the order in which this direction meets them. */
  constructor(
    filters: readonly HttpFilter[],
    step: MessageStep,
    sink: MessageSink,
    heldByAll: HeldBytes,
  ) {
    this.#filters = filters;
    this.#step = step;
    this.#sink = sink;
    this.#heldByAll = heldByAll;
  }

  /** A message begins. An answer made here may take the place of one that a filter holds. */
  headers(headers: HeaderMap, endStream: boolean): void {
    if (this.#stoppedAt !== NOT_STOPPED) this.#forgetHeld();
    this.#headersFrom(0, headers, endStream);
  }

  data(data: Buffer, endStream: boolean): void {
    this.#dataFrom(0, data, endStream);
  }

  trailers(trailers: HeaderMap): void {
    this.#trailersFrom(0, trailers);
  }

  /** What the filter at `position` made of pieces that it took. */
  injectData(position: number, data: Buffer, endStream: boolean): void {
    this.#dataFrom(position + 1, data, endStream);
  }

  injectTrailers(position: number, trailers: HeaderMap): void {
    this.#trailersFrom(position + 1, trailers);
  }

  /** Behind the headers that the filter at work is looking at, which have to be all there is. */
  addBody(data: Buffer, trailers: HeaderMap | undefined): void {
    this.#added = { data, trailers };
  }

  /** The filter at `position` goes on; nothing happens when it holds nothing. */
  resume(position: number): void {
    if (this.#stoppedAt !== position) return;
    const headers = this.#headersHeld;
    const held = this.#held?.joined() ?? NOTHING;
    const trailersHeld = this.#trailersHeld;
    const endsAtHeaders = this.#endsAtHeaders;
    const endsAtData = this.#endsAtData;
    this.#forgetHeld();
    if (headers !== undefined) {
      if (this.#added !== undefined) this.#passAdded(position + 1, headers);
      else this.#headersFrom(position + 1, headers, endsAtHeaders);
    }
    if (held.length > 0 || endsAtData) this.#dataFrom(position + 1, held, endsAtData);
    if (trailersHeld !== undefined) this.#trailersFrom(position + 1, trailersHeld);
  }

  #forgetHeld(): void {
    this.#stoppedAt = NOT_STOPPED;
    this.#headersHeld = undefined;
    this.dropHeld();
    this.#trailersHeld = undefined;
    this.#endsAtHeaders = false;
    this.#endsAtData = false;
  }

  dropHeld(): void {
    this.#heldByAll.add(-this.heldBytes);
    this.#held?.clear();
    this.heldBytes = 0;
  }

  #headersFrom(start: number, headers: HeaderMap, endStream: boolean): void {
    const filters = this.#filters;
    for (let at = start; at < filters.length; at++) {
      const filter = filters[at];
      if (filter === undefined) continue;
      if (this.#step.headers(filter, headers, endStream) === 'continue') {
        if (this.#added === undefined) continue;
        this.#passAdded(at + 1, headers);
        return;
      }
      this.#stoppedAt = at;
      this.#headersHeld = headers;
      this.#endsAtHeaders = endStream;
      return;
    }
    this.#sink.headers(headers, endStream);
  }

  #passAdded(start: number, headers: HeaderMap): void {
    const added = this.#added;
    if (added === undefined) return;
    this.#added = undefined;
    this.#headersFrom(start, headers, false);
    this.#dataFrom(start, added.data, added.trailers === undefined);
    if (added.trailers !== undefined) this.#trailersFrom(start, added.trailers);
  }

  #dataFrom(start: number, data: Buffer, endStream: boolean): void {
    const filters = this.#filters;
    for (let at = start; at < filters.length; at++) {
      const filter = filters[at];
      if (filter === undefined) continue;
      const status = this.#step.data(filter, data, endStream);
      if (status === 'taken') return;
      if (status === 'continue') {
        if (this.#stoppedAt !== at) continue;
        // The holder lets its headers and what was gathered go with this piece.
        this.#hold(data);
        this.#endsAtData = endStream;
        this.resume(at);
        return;
      }
      this.#stoppedAt = at;
      this.#endsAtData = endStream;
      if (status === 'stop_and_buffer') this.#hold(data);
      return;
    }
    this.#sink.data(data, endStream);
  }

  #trailersFrom(start: number, trailers: HeaderMap): void {
    const filters = this.#filters;
    for (let at = start; at < filters.length; at++) {
      const filter = filters[at];
      if (filter === undefined) continue;
      const status = this.#step.trailers(filter, trailers);
      if (status === 'taken') return;
      if (status === 'continue' && this.#stoppedAt !== at) continue;
      this.#trailersHeld = trailers;
      if (status === 'continue') this.resume(at);
      else this.#stoppedAt = at;
      return;
    }
    this.#sink.trailers(trailers);
  }

  #hold(data: Buffer): void {
    if (data.length === 0) return;
    this.#held ??= new CollectedBytes();
    this.#held.addCopy(data);
    this.heldBytes += data.length;
    this.#heldByAll.add(data.length);
  }
}
