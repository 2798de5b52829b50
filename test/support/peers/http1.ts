/** Drives the HTTP/1 codecs without sockets: bytes in, events and bytes out. */
import type {
  RequestDecoder,
  ResetReason,
  ResponseDecoder,
  ResponseEncoder,
  ServerCodecOwner,
} from '../../../workers/stream/codec.ts';
import type { HeaderMap } from '../../../workers/stream/header-map.ts';
import { Http1ClientCodec } from '../../../workers/http1/client-codec.ts';
import type { MessageLimits } from '../../../workers/http1/message-limits.ts';
import type { Http1ServerLimits } from '../../../workers/http1/response-writer.ts';
import { Http1ServerCodec } from '../../../workers/http1/server-codec.ts';
import type { Wire } from '../../../workers/net/wire.ts';
import type { Flushable } from '../../../workers/loop/worker-loop.ts';

/** Keeps what a codec writes, as latin-1 text, and runs what it defers. */
class RecordingWire implements Wire {
  written = '';
  pauses = 0;
  #deferred: Flushable[] = [];

  writeText(text: string): void {
    this.written += text;
  }

  writeData(data: Buffer): void {
    this.written += data.toString('latin1');
  }

  pauseReading(paused: boolean): void {
    this.pauses += paused ? 1 : -1;
  }

  defer(task: Flushable): void {
    this.#deferred.push(task);
  }

  /** The end of an event of the loop. */
  endEvent(): void {
    for (let task = this.#deferred.shift(); task !== undefined; task = this.#deferred.shift()) {
      task.flush();
    }
  }
}

/** One message as a decoder saw it. */
export interface SeenMessage {
  start: string;
  headers: (readonly [string, string])[];
  originalNames: readonly string[] | undefined;
  body: string;
  trailers: (readonly [string, string])[];
  informational: number[];
  expectsContinue: boolean;
  complete: boolean;
  error: string;
}

function emptyMessage(): SeenMessage {
  return {
    start: '',
    headers: [],
    originalNames: undefined,
    body: '',
    trailers: [],
    informational: [],
    expectsContinue: false,
    complete: false,
    error: '',
  };
}

export function pairs(headers: HeaderMap): (readonly [string, string])[] {
  const list: (readonly [string, string])[] = [];
  headers.forEach((name, value) => list.push([name, value]));
  return list;
}

const limits: Http1ServerLimits = {
  acceptHttp10: false,
  allowAbsoluteUrl: true,
  defaultHostForHttp10: '',
  maxHeaderBytes: 60 * 1024,
  maxHeaderCount: 100,
  enableTrailers: true,
  allowChunkedLength: false,
  headerCase: 'lower',
};

export type Respond = (encoder: ResponseEncoder, message: SeenMessage) => void;

/**
 * A server codec whose requests are recorded; `respond` is called when one is complete or refused.
 */
export class ServerHarness implements ServerCodecOwner {
  readonly wire = new RecordingWire();
  readonly messages: SeenMessage[] = [];
  readonly codec: Http1ServerCodec;
  finished: 'now' | 'delayed' | undefined = undefined;
  partsDropped = 0;
  readonly #respond: Respond;

  constructor(respond: Respond = () => undefined, changes: Partial<Http1ServerLimits> = {}) {
    this.#respond = respond;
    this.codec = new Http1ServerCodec(this.wire, this, { ...limits, ...changes });
  }

  newStream(encoder: ResponseEncoder): RequestDecoder {
    const message = emptyMessage();
    this.messages.push(message);
    const complete = (): void => {
      message.complete = true;
      this.#respond(encoder, message);
    };
    return {
      decodeHeaders: (headers, endStream) => {
        message.start = `${headers.method} ${headers.authority} ${headers.path}`;
        message.headers = pairs(headers);
        message.originalNames = headers.originalNames;
        if (endStream) complete();
      },
      decodeData: (data, endStream) => {
        message.body += data.toString('latin1');
        if (endStream) complete();
      },
      decodeTrailers: (trailers) => {
        message.trailers = pairs(trailers);
        complete();
      },
      onExpectContinue: () => {
        message.expectsContinue = true;
      },
      onCodecError: (status, details) => {
        message.error = `${status} ${details}`;
        this.#respond(encoder, message);
      },
      onReset: (reason) => {
        if (message.error === '' && !message.complete) message.error = reason;
      },
      onWriteBlocked: () => undefined,
    };
  }

  onPartsDropped(count: number): void {
    this.partsDropped += count;
  }

  onCodecChosen(): void {
    throw new Error('the codec was chosen before');
  }

  onStreamEnd(): void {
    throw new Error('the end of the response says it');
  }

  onProtocolError(): void {
    throw new Error('the decoder hears of it');
  }

  onPrematureResets(): void {
    throw new Error('a reset is the end of the connection');
  }

  onCodecFinished(how: 'now' | 'delayed'): void {
    this.finished = how;
  }

  /** Feeds pieces as separate reads. */
  feed(...pieces: readonly string[]): this {
    for (const piece of pieces) {
      const bytes = Buffer.from(piece, 'latin1');
      this.codec.onData(bytes, 0, bytes.length);
      // What a read brought is gone with the next one.
      bytes.fill(0x21);
      this.wire.endEvent();
    }
    return this;
  }
}

/** A client codec with one open exchange. */
export class ClientHarness implements ResponseDecoder {
  readonly wire = new RecordingWire();
  readonly codec: Http1ClientCodec;
  message = emptyMessage();
  reusable: boolean | undefined = undefined;
  protocolError = '';
  closeAnnounced = false;
  /** Why the last request was not sent. */
  fault: string | undefined = undefined;

  constructor(changes: Partial<MessageLimits> = {}) {
    this.codec = new Http1ClientCodec(
      this.wire,
      {
        onExchangeDone: (reusable) => {
          this.reusable = reusable;
        },
        onExchangeReset: () => {
          this.reusable = false;
        },
        onProtocolError: (details) => {
          // The first ends the connection; what a test feeds afterwards no longer counts.
          this.protocolError ||= details;
        },
        onCloseAnnounced: () => {
          this.closeAnnounced = true;
        },
      },
      { ...limits, isOwnRequest: false, ...changes },
    );
  }

  request(headers: HeaderMap, endStream = true): this {
    this.message = emptyMessage();
    this.reusable = undefined;
    this.fault = this.codec.newStream(this).encodeHeaders(headers, endStream);
    return this;
  }

  feed(...pieces: readonly string[]): this {
    for (const piece of pieces) {
      const bytes = Buffer.from(piece, 'latin1');
      this.codec.onData(bytes, 0, bytes.length);
      bytes.fill(0x21);
    }
    return this;
  }

  close(isOrderly = true): this {
    this.codec.onTransportClosed('connection_termination', isOrderly);
    return this;
  }

  decode1xx(headers: HeaderMap): void {
    this.message.informational.push(headers.status);
  }

  decodeHeaders(headers: HeaderMap, endStream: boolean): void {
    this.message.start = String(headers.status);
    this.message.headers = pairs(headers);
    this.message.complete = endStream;
  }

  decodeData(data: Buffer, endStream: boolean): void {
    this.message.body += data.toString('latin1');
    if (endStream) this.message.complete = true;
  }

  decodeTrailers(trailers: HeaderMap): void {
    this.message.trailers = pairs(trailers);
    this.message.complete = true;
  }

  onReset(reason: ResetReason): void {
    this.message.error = reason;
  }

  onWriteBlocked(): void {
    // Nothing is ever blocked here.
  }
}
