/**
 * Brings gRPC calls to hosts that know only HTTP/1: the content type becomes theirs, frames are taken
 * off the request and put around the answer when asked, and the answer's status becomes trailers.
 * Source: envoy.filters.http.grpc_http1_reverse_bridge.
 */
import type {
  ReverseBridgeFilterSettings,
  ReverseBridgeOptions,
  ReverseBridgePerRoute,
} from '../../../../shared/resources/filters/http/grpc/reverse-bridge.ts';
import { grpcStatusOfHttp } from '../../../../shared/substitution/grpc-status-of-http.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  TrailersStatus,
} from '../../../stream/filter.ts';
import { HeaderMap } from '../../../stream/header-map.ts';
import { isGrpcRequest } from '../../common/grpc-call.ts';
import { FRAME_HEADER_BYTES, frameHeader } from '../../common/grpc-frames.ts';
import { KeptBody, refuseLargeResponse } from '../../common/kept-body.ts';
import type { FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';

const UNKNOWN = 2;
const INTERNAL = 13;
const OK = 0;
const NOTHING = Buffer.alloc(0);

export function makeReverseBridgeFilter(
  { name, options }: ReverseBridgeFilterSettings,
  context: FilterContext,
): FilterFactory {
  return {
    name,
    create: (callbacks) => {
      const ofRoute = callbacks.routeConfig(name) as ReverseBridgePerRoute | undefined;
      return ofRoute?.isDisabled === true
        ? new PassThroughFilter()
        : new ReverseBridgeFilter(options, context, callbacks);
    },
  };
}

class ReverseBridgeFilter extends PassThroughFilter {
  readonly #options: ReverseBridgeOptions;
  readonly #context: FilterContext;
  readonly #callbacks: FilterCallbacks;
  /** The client's content type while the call is bridged. */
  #contentType: string | undefined = undefined;
  #isPrefixTaken = false;
  #status = OK;
  /** The length of the answer's message, where a header said it. */
  #expectedBytes: number | undefined = undefined;
  #receivedBytes = 0;
  #isFrameBegun = false;
  /** The answer, where it has to be measured. */
  #answer: KeptBody | undefined = undefined;

  constructor(options: ReverseBridgeOptions, context: FilterContext, callbacks: FilterCallbacks) {
    super();
    this.#options = options;
    this.#context = context;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    if (endStream || !isGrpcRequest(headers)) return 'continue';
    const { contentType, withholdsFrames } = this.#options;
    this.#contentType = headers.get('content-type');
    this.#callbacks.info.isGrpcClient = true;
    headers.set('content-type', contentType);
    headers.set('accept', contentType);
    if (withholdsFrames) changeLength(headers, -FRAME_HEADER_BYTES);
    this.#callbacks.clearRoute();
    return 'continue';
  }

  override decodeData(data: Buffer, endStream: boolean): DataStatus {
    const takesPrefix =
      this.#contentType !== undefined && this.#options.withholdsFrames && !this.#isPrefixTaken;
    if (!takesPrefix) return 'continue';
    if (data.length < FRAME_HEADER_BYTES) {
      // As in Envoy, whose own answer is the first that it finds to be of the wrong type.
      this.#refuseType('application/grpc', 200);
      return 'stop';
    }
    this.#isPrefixTaken = true;
    this.#callbacks.injectRequestData(data.subarray(FRAME_HEADER_BYTES), endStream);
    return 'taken';
  }

  override encodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    const contentType = this.#contentType;
    if (contentType === undefined) return 'continue';
    const given = headers.get('content-type');
    if (given !== this.#options.contentType) {
      this.#refuseType(given, headers.status);
      return 'stop';
    }
    headers.set('content-type', contentType);
    if (this.#options.withholdsFrames && !this.#beginFrame(headers)) return 'stop';
    if (headers.status !== 200) {
      this.#status = grpcStatusOfHttp(headers.status);
      headers.status = 200;
    }
    if (endStream) this.#frameNothing(headers);
    return 'continue';
  }

  override encodeData(data: Buffer, endStream: boolean): DataStatus {
    if (this.#contentType === undefined) return 'continue';
    if (this.#answer !== undefined) return this.#keep(this.#answer, data, endStream);
    if (!this.#passFramed(data, endStream)) return 'taken';
    if (endStream) this.#callbacks.injectResponseTrailers(this.#statusTrailers(new HeaderMap()));
    return 'taken';
  }

  override encodeTrailers(trailers: HeaderMap): TrailersStatus {
    if (this.#contentType === undefined) return 'continue';
    if (this.#answer !== undefined) this.#passAnswer(this.#answer);
    else if (!this.#passFramed(NOTHING, true)) return 'taken';
    this.#statusTrailers(trailers);
    return 'continue';
  }

  override onDestroy(): void {
    this.#answer?.drop();
  }

  /** False after an answer of its own. */
  #beginFrame(headers: HeaderMap): boolean {
    const { sizeHeader } = this.#options;
    if (sizeHeader === undefined) {
      const length = sizeOf(headers.get('content-length'));
      if (length === undefined) this.#answer = new KeptBody(this.#context);
      else this.#expectedBytes = length;
      changeLength(headers, FRAME_HEADER_BYTES);
      return true;
    }
    this.#expectedBytes = sizeOf(headers.get(sizeHeader));
    if (this.#expectedBytes === undefined) {
      this.#refuse(
        'envoy reverse bridge: upstream did not set content length',
        'grpc_bridge_content_length_missing',
        INTERNAL,
      );
      return false;
    }
    headers.set('content-length', String(this.#expectedBytes + FRAME_HEADER_BYTES));
    return true;
  }

  /** An answer without a body is an empty message. */
  #frameNothing(headers: HeaderMap): void {
    if (!this.#options.withholdsFrames) return;
    this.#answer?.drop();
    headers.set('content-length', String(FRAME_HEADER_BYTES));
    this.#callbacks.addResponseBody(frameHeader(0), this.#statusTrailers(new HeaderMap()));
  }

  #keep(answer: KeptBody, data: Buffer, endStream: boolean): DataStatus {
    if (!answer.add(data)) {
      this.#contentType = undefined;
      answer.drop();
      refuseLargeResponse(this.#context, this.#callbacks);
      return 'taken';
    }
    if (!endStream) return 'taken';
    this.#passAnswer(answer);
    this.#callbacks.injectResponseTrailers(this.#statusTrailers(new HeaderMap()));
    return 'taken';
  }

  #passAnswer(answer: KeptBody): void {
    const message = answer.take();
    this.#callbacks.injectResponseData(frameHeader(message.length), false);
    if (message.length > 0) this.#callbacks.injectResponseData(message, false);
  }

  /** A piece of an answer whose length is known; false when it is not what was said. */
  #passFramed(data: Buffer, isLast: boolean): boolean {
    const expectedBytes = this.#expectedBytes;
    if (expectedBytes !== undefined) {
      this.#receivedBytes += data.length;
      const isWrong =
        this.#receivedBytes > expectedBytes || (isLast && this.#receivedBytes < expectedBytes);
      if (isWrong) {
        this.#callbacks.info.responseCodeDetails = 'grpc_bridge_content_length_wrong';
        this.#callbacks.resetStream();
        return false;
      }
      if (!this.#isFrameBegun) {
        this.#isFrameBegun = true;
        this.#callbacks.injectResponseData(frameHeader(expectedBytes), false);
      }
    }
    if (data.length > 0) this.#callbacks.injectResponseData(data, false);
    return true;
  }

  #statusTrailers(trailers: HeaderMap): HeaderMap {
    trailers.set('grpc-status', String(this.#status));
    return trailers;
  }

  #refuseType(given: string | undefined, status: number): void {
    const type =
      given === undefined ? 'no content-type header' : `unsupported content-type ${given}`;
    this.#refuse(
      `envoy reverse bridge: upstream responded with ${type}, status code ${status}`,
      'grpc_bridge_content_type_wrong',
      UNKNOWN,
    );
  }

  /** The answer is not bridged itself. */
  #refuse(body: string, details: string, grpcStatus: number): void {
    this.#contentType = undefined;
    this.#callbacks.sendLocalReply({ status: 200, body, details, grpcStatus });
  }
}

function sizeOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

function changeLength(headers: HeaderMap, change: number): void {
  const length = sizeOf(headers.get('content-length'));
  if (length !== undefined) headers.set('content-length', String(Math.max(0, length + change)));
}
