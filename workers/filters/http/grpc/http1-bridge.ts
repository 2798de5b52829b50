/**
 * Lets clients of HTTP/1, which see no trailers, make unary calls: the answer is kept until its
 * trailers say what came of it, which becomes a part of its headers. Bare protobuf messages can become
 * calls as well. Source: envoy.filters.http.grpc_http1_bridge.
 */
import type {
  Http1BridgeFilterSettings,
  Http1BridgeOptions,
} from '../../../../shared/resources/filters/http/grpc/http1-bridge.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  TrailersStatus,
} from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { isGrpcRequest } from '../../common/grpc-call.ts';
import { FRAME_HEADER_BYTES, frameHeader } from '../../common/grpc-frames.ts';
import { KeptBody, refuseLargeRequest, refuseLargeResponse } from '../../common/kept-body.ts';
import type { FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';

const PROTOBUF = 'application/x-protobuf';
/** The status of a call that failed behind its headers. */
const FAILED = 503;

export function makeHttp1BridgeFilter(
  { name, options }: Http1BridgeFilterSettings,
  context: FilterContext,
): FilterFactory {
  return { name, create: (callbacks) => new Http1BridgeFilter(options, context, callbacks) };
}

class Http1BridgeFilter extends PassThroughFilter {
  readonly #options: Http1BridgeOptions;
  readonly #context: FilterContext;
  readonly #callbacks: FilterCallbacks;
  #isBridged = false;
  /** Set while a bare message is kept, whose length its frame has to say. */
  #message: KeptBody | undefined = undefined;
  /** The headers of the answer while it is kept. */
  #headers: HeaderMap | undefined = undefined;
  #answer: KeptBody | undefined = undefined;
  /** Bytes of the answer's first frame header that the client does not see. */
  #dropped = 0;

  constructor(options: Http1BridgeOptions, context: FilterContext, callbacks: FilterCallbacks) {
    super();
    this.#options = options;
    this.#context = context;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    const { info } = this.#callbacks;
    const isUpgraded = this.#options.upgradesProtobuf && headers.get('content-type') === PROTOBUF;
    if (isUpgraded) {
      info.isGrpcClient = false;
      headers.set('content-type', 'application/grpc');
      headers.remove('content-length');
    }
    this.#isBridged = info.protocol !== 'HTTP/2' && isGrpcRequest(headers);
    if (!this.#isBridged) return 'continue';
    if (this.#options.ignoresQuery) headers.path = withoutQuery(headers.path);
    if (!isUpgraded) return 'continue';
    this.#dropped = FRAME_HEADER_BYTES;
    if (endStream) return 'continue';
    this.#message = new KeptBody(this.#context);
    return 'stop';
  }

  override decodeData(data: Buffer, endStream: boolean): DataStatus {
    const message = this.#message;
    if (message === undefined) return 'continue';
    if (!message.add(data)) refuseLargeRequest(this.#context, this.#callbacks);
    else if (endStream) this.#passMessage(message, true);
    return 'taken';
  }

  override decodeTrailers(): TrailersStatus {
    if (this.#message !== undefined) this.#passMessage(this.#message, false);
    return 'continue';
  }

  override encodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    // An answer made here may come after one that was kept.
    this.#answer?.drop();
    if (!this.#isBridged || endStream) return 'continue';
    this.#headers = headers;
    this.#answer = new KeptBody(this.#context);
    return 'stop';
  }

  override encodeData(data: Buffer, endStream: boolean): DataStatus {
    const answer = this.#answer;
    if (answer === undefined) return 'continue';
    if (endStream) {
      this.#passAnswer(answer);
      return 'continue';
    }
    const skipped = Math.min(this.#dropped, data.length);
    this.#dropped -= skipped;
    if (!answer.add(data.subarray(skipped))) refuseLargeResponse(this.#context, this.#callbacks);
    return 'taken';
  }

  override encodeTrailers(trailers: HeaderMap): TrailersStatus {
    const headers = this.#headers;
    const answer = this.#answer;
    if (headers === undefined || answer === undefined) return 'continue';
    const status = trailers.get('grpc-status');
    if (status !== undefined) {
      if (!isZero(status)) headers.status = FAILED;
      headers.set('grpc-status', status);
    }
    const text = trailers.get('grpc-message');
    if (text !== undefined) headers.set('grpc-message', text);
    headers.set('content-length', String(answer.length));
    this.#passAnswer(answer);
    return 'continue';
  }

  override onDestroy(): void {
    this.#message?.drop();
    this.#answer?.drop();
  }

  #passMessage(message: KeptBody, endStream: boolean): void {
    const body = message.take();
    this.#message = undefined;
    this.#callbacks.continueDecoding();
    this.#callbacks.injectRequestData(frameHeader(body.length), false);
    this.#callbacks.injectRequestData(body, endStream);
  }

  #passAnswer(answer: KeptBody): void {
    const body = answer.take();
    this.#answer = undefined;
    this.#callbacks.continueEncoding();
    if (body.length > 0) this.#callbacks.injectResponseData(body, false);
  }
}

/** Likewise with zeroes before it. */
function isZero(status: string): boolean {
  return /^0+$/.test(status);
}

function withoutQuery(path: string): string {
  const query = path.indexOf('?');
  return query < 0 ? path : path.slice(0, query);
}
