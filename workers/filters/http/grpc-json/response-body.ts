/** One transcoded answer: the messages become JSON, the status becomes one of HTTP. */
import { assert } from '../../../../shared/process/assert.ts';
import { lengthDelimited, keyBytes, varintBytes } from '../../../../shared/protobuf/records.ts';
import { Wire } from '../../../../shared/protobuf/wire.ts';
import type { ProtoField } from '../../../../shared/resources/filters/http/grpc-json-transcoder.ts';
import type { FilterCallbacks, HeadersStatus } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { httpStatusOfGrpcNumber } from '../../../substitution/http-status-of-grpc.ts';
import { isGrpcResponse } from '../../common/grpc-call.ts';
import { FrameReader } from '../../common/grpc-frames.ts';
import { KeptBody } from '../../common/kept-body.ts';
import type { FilterContext } from '../../filter-context.ts';
import { TranscodeError } from './json-text.ts';
import { JsonStreamPrinter, rawBodyOf } from './response-messages.ts';
import { unescapeText } from './path-matcher.ts';
import type { MessageType } from './proto-types.ts';
import { STATUS_TYPE } from './status-types.ts';
import type { TranscodedCall, Transcoding } from './transcoding.ts';
import { readMessage } from './wire-values.ts';

const JSON_TYPE = 'application/json';
const EVENTS_TYPE = 'text/event-stream';
const STATUS_DETAILS = 'grpc-status-details-bin';
const NO_STATUS = 503;
const UNKNOWN = 500;
const NOTHING = Buffer.alloc(0);
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

export class ResponseBody {
  isTranscoded = false;
  readonly #transcoding: Transcoding;
  readonly #call: TranscodedCall;
  readonly #callbacks: FilterCallbacks;
  readonly #isStream: boolean;
  readonly #frames: FrameReader;
  readonly #stream: JsonStreamPrinter;
  /** The body of an answer that is no stream. */
  readonly #body: KeptBody;
  #headers: HeaderMap | undefined = undefined;
  #areHeadersPassed = false;
  #hasBody = false;
  #messages = 0;

  constructor(
    transcoding: Transcoding,
    call: TranscodedCall,
    context: FilterContext,
    callbacks: FilterCallbacks,
  ) {
    const { maxResponseBytes: limit = context.bufferLimitBytes } = transcoding.options;
    this.#transcoding = transcoding;
    this.#call = call;
    this.#callbacks = callbacks;
    this.#isStream = call.method.isServerStreaming;
    this.#frames = new FrameReader(limit);
    this.#stream = new JsonStreamPrinter(transcoding, call);
    this.#body = new KeptBody(context, limit);
  }

  begin(headers: HeaderMap, endStream: boolean): HeadersStatus {
    if (!isGrpcResponse(headers, endStream)) return 'continue';
    this.#headers = headers;
    if (endStream) {
      this.#onlyHeaders(headers);
      return 'continue';
    }
    this.isTranscoded = true;
    headers.set('content-type', this.#contentType);
    headers.remove('content-length');
    this.#areHeadersPassed = this.#isStream && this.#call.rawResponsePath === undefined;
    return this.#areHeadersPassed ? 'continue' : 'stop';
  }

  /** False for a message that is too large. Throws TranscodeError. */
  add(data: Buffer, endStream: boolean): boolean {
    if (data.length > 0) this.#hasBody = true;
    const { maxResponseBytes } = this.#transcoding.options;
    if (this.#frames.waitingBytes + data.length > (maxResponseBytes ?? Number.POSITIVE_INFINITY)) {
      return false;
    }
    const messages = this.#frames.read(data);
    if (this.#frames.wrongFlags !== undefined) {
      throw new TranscodeError(`Unsupported gRPC frame flag: ${this.#frames.wrongFlags}`);
    }
    if (messages === undefined) return false;
    for (const message of messages) {
      if (!this.#take(message)) return false;
    }
    if (!endStream) return true;
    this.#checkEnd();
    if (this.#isStream)
      this.#pass(Buffer.from(this.#call.rawResponsePath ? '' : this.#stream.end()));
    this.#passKept(true);
    return true;
  }

  /** The trailers follow by themselves. */
  end(trailers: HeaderMap): boolean {
    const headers = this.#headers;
    if (headers === undefined) return true;
    this.#checkEnd();
    const status = statusOf(trailers);
    const converted = this.#convertedStatus(status, trailers);
    if (this.#isStream && this.#areHeadersPassed) {
      this.#pass(Buffer.from(converted ?? (this.#call.rawResponsePath ? '' : this.#stream.end())));
      return true;
    }
    headers.status = httpStatusOf(status);
    if (converted === undefined) {
      if (status !== undefined) headers.set('grpc-status', String(status));
      const message = trailers.get('grpc-message');
      if (message !== undefined) headers.set('grpc-message', message);
    } else {
      headers.set('content-type', JSON_TYPE);
      this.#body.drop();
      this.#body.add(converted);
    }
    headers.set('content-length', String(this.#body.length));
    this.#passKept(false);
    return true;
  }

  drop(): void {
    this.#body.drop();
  }

  /** The first frame may not wait for its rest; what breaks off behind it is ignored. */
  #checkEnd(): void {
    if (this.#messages > 0) return;
    const { waitingBytes: actual, missingMessageBytes: expected } = this.#frames;
    if (expected !== undefined) {
      throw new TranscodeError(
        `Incomplete gRPC frame expected size: ${expected} actual size: ${actual}`,
      );
    }
    if (actual > 0) throw new TranscodeError('Incomplete gRPC frame header received');
  }

  #take(message: Buffer): boolean {
    const { rawResponsePath: path } = this.#call;
    const isFirst = this.#messages++ === 0;
    // Envoy takes the first message of an answer that is no stream, too.
    if (!isFirst && !this.#isStream) return true;
    if (path !== undefined) return this.#takeRaw(path, message, isFirst);
    if (this.#isStream) {
      this.#pass(Buffer.from(this.#stream.print(message)));
      return true;
    }
    const { printer } = this.#transcoding;
    return this.#body.add(Buffer.from(printer.print(this.#call.output, message)));
  }

  #takeRaw(path: readonly ProtoField[], message: Buffer, isFirst: boolean): boolean {
    const { contentType, data } = rawBodyOf(this.#transcoding, this.#call, path, message);
    if (isFirst && message.length > 0) this.#headers?.set('content-type', contentType);
    if (!this.#isStream) return this.#body.add(data);
    this.#passHeaders();
    this.#pass(data);
    return true;
  }

  get #contentType(): string {
    const { streams } = this.#transcoding.options.print;
    return this.#isStream && streams === 'events' ? EVENTS_TYPE : JSON_TYPE;
  }

  #pass(data: Buffer): void {
    if (data.length > 0) this.#callbacks.injectResponseData(data, false);
  }

  #passHeaders(): void {
    if (this.#areHeadersPassed) return;
    this.#areHeadersPassed = true;
    this.#callbacks.continueEncoding();
  }

  #passKept(endStream: boolean): void {
    this.#passHeaders();
    this.#pass(this.#body.take());
    if (endStream) this.#callbacks.injectResponseData(NOTHING, true);
  }

  /** Headers that have the status as well. */
  #onlyHeaders(headers: HeaderMap): void {
    const status = statusOf(headers);
    const converted = this.#convertedStatus(status, headers);
    headers.status = httpStatusOf(status);
    if (converted !== undefined) {
      for (const name of ['grpc-status', 'grpc-message', STATUS_DETAILS]) headers.remove(name);
      headers.set('content-type', JSON_TYPE);
      headers.set('content-length', String(converted.length));
      this.#callbacks.addResponseBody(converted);
      return;
    }
    if (!this.#isStream || this.#call.rawResponsePath !== undefined) {
      headers.set('content-length', '0');
      return;
    }
    headers.set('content-type', this.#contentType);
    const body = this.#stream.end();
    if (body !== '') this.#callbacks.addResponseBody(Buffer.from(body));
  }

  /** google.rpc.Status as JSON, where an error without a body becomes one. */
  #convertedStatus(status: number | undefined, headers: HeaderMap): Buffer | undefined {
    const { options, types, printer } = this.#transcoding;
    if (!options.convertsStatus || this.#hasBody || status === undefined || status === 0) {
      return undefined;
    }
    const type = types.message(STATUS_TYPE);
    assert(type !== undefined);
    const given = givenStatus(type, headers.get(STATUS_DETAILS));
    try {
      return Buffer.from(
        printer.print(type, given ?? statusMessage(status, headers.get('grpc-message'))),
      );
    } catch (error) {
      if (error instanceof TranscodeError) return undefined;
      throw error;
    }
  }
}

/** Details of a status, where they can be read. */
function givenStatus(type: MessageType, details: string | undefined): Buffer | undefined {
  if (details === undefined || !BASE64.test(details)) return undefined;
  const bytes = Buffer.from(details, 'base64');
  try {
    if (bytes.length > 0 && readMessage(type, bytes).size > 0) return bytes;
  } catch (error) {
    if (!(error instanceof TranscodeError)) throw error;
  }
  return undefined;
}

function statusMessage(status: number, message: string | undefined): Buffer {
  const code = Buffer.concat([keyBytes(1, Wire.varint), varintBytes(BigInt(status))]);
  if (message === undefined || message === '') return code;
  const text = Buffer.from(unescapeText(message, 'all'), 'utf8');
  return Buffer.concat([code, lengthDelimited(2, text)]);
}

/** Undefined where there is none, or no number. */
function statusOf(headers: HeaderMap): number | undefined {
  const text = headers.get('grpc-status');
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function httpStatusOf(status: number | undefined): number {
  if (status === undefined) return NO_STATUS;
  return httpStatusOfGrpcNumber(status) ?? UNKNOWN;
}
