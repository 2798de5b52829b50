/**
 * Translates gRPC-Web, as browsers speak it, to gRPC: base64 where the client asks for text, and
 * trailers as a last frame of the body. Answers that are no gRPC become a status and a message.
 * Source: envoy.filters.http.grpc_web.
 */
import { grpcStatusOfHttp } from '../../../../shared/substitution/grpc-status-of-http.ts';
import type { GrpcWebFilterSettings } from '../../../../shared/resources/filters/http/grpc/grpc-web.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  TrailersStatus,
} from '../../../stream/filter.ts';
import { grpcMessageOf } from '../../../stream/grpc-message.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { isGrpcContentType } from '../../../stream/grpc-status.ts';
import { Base64Decoder } from '../../common/base64-stream.ts';
import { type CountedCall, countedCall } from '../../common/grpc-call.ts';
import { frameHeader } from '../../common/grpc-frames.ts';
import { KeptBody } from '../../common/kept-body.ts';
import type { FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';
import { FrameTextEncoder } from './frame-text.ts';

const TEXT_TYPES = ['application/grpc-web-text', 'application/grpc-web-text+proto'];
const TYPES = ['application/grpc-web', 'application/grpc-web+proto', ...TEXT_TYPES];
const TEXT_ANSWER = 'application/grpc-web-text+proto';
const BINARY_ANSWER = 'application/grpc-web+proto';
/** The flag of the frame that has the trailers. */
const TRAILERS = 0x80;
/** What becomes the message of an answer that is no gRPC: no more than this of its body. */
const MESSAGE_BYTES_MAX = 16_384;
const BAD_BASE64 = 'Bad gRPC-web request, invalid base64 data.';
const NOTHING = Buffer.alloc(0);

export function makeGrpcWebFilter(
  { name }: GrpcWebFilterSettings,
  context: FilterContext,
): FilterFactory {
  return { name, create: (callbacks) => new GrpcWebFilter(context, callbacks) };
}

class GrpcWebFilter extends PassThroughFilter {
  readonly #context: FilterContext;
  readonly #callbacks: FilterCallbacks;
  #isWeb = false;
  #isTextAnswer = false;
  #decoder: Base64Decoder | undefined = undefined;
  #encoder: FrameTextEncoder | undefined = undefined;
  #call: CountedCall | undefined = undefined;
  /** Headers and body of an answer that is no gRPC. */
  #plain: { readonly headers: HeaderMap; readonly body: KeptBody } | undefined = undefined;

  constructor(context: FilterContext, callbacks: FilterCallbacks) {
    super();
    this.#context = context;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const type = headers.get('content-type');
    if (type === undefined || !TYPES.includes(type)) return 'continue';
    this.#isWeb = true;
    const { info, route } = this.#callbacks;
    info.isGrpcClient = false;
    this.#call = countedCall(this.#context, route, 'grpc-web', headers.path);
    headers.remove('content-length');
    headers.set('content-type', 'application/grpc');
    if (TEXT_TYPES.includes(type)) this.#decoder = new Base64Decoder();
    this.#isTextAnswer = TEXT_TYPES.includes(headers.get('accept') ?? '');
    headers.set('te', 'trailers');
    if (!headers.has('grpc-accept-encoding')) headers.set('grpc-accept-encoding', 'identity');
    return 'continue';
  }

  override decodeData(data: Buffer, endStream: boolean): DataStatus {
    const decoder = this.#decoder;
    if (decoder === undefined) return 'continue';
    const bytes = decoder.decode(data);
    const isCut = endStream && !decoder.isWhole;
    if (bytes === undefined || isCut) {
      const details = `grpc_base_64_decode_failed${isCut ? '_bad_size' : ''}`;
      this.#callbacks.sendLocalReply({
        status: 400,
        body: BAD_BASE64,
        details,
        closesConnection: true,
      });
      return 'stop';
    }
    if (bytes.length > 0 || endStream) this.#callbacks.injectRequestData(bytes, endStream);
    return 'taken';
  }

  override encodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    if (!this.#isWeb) return 'continue';
    // An answer made here may come after one whose body was kept.
    this.#plain?.body.drop();
    this.#plain = undefined;
    this.#call?.charge(headers);
    const isPlain = headers.status !== 200 || !isGrpcContentType(headers.get('content-type'));
    headers.set('content-type', this.#isTextAnswer ? TEXT_ANSWER : BINARY_ANSWER);
    if (endStream) return 'continue';
    headers.remove('content-length');
    if (isPlain) {
      this.#plain = { headers, body: new KeptBody(this.#context) };
      return 'stop';
    }
    if (this.#isTextAnswer) this.#encoder = new FrameTextEncoder();
    return 'continue';
  }

  override encodeData(data: Buffer, endStream: boolean): DataStatus {
    if (this.#plain !== undefined) {
      const { body } = this.#plain;
      body.add(data.subarray(0, MESSAGE_BYTES_MAX - body.length));
      if (endStream) this.#passPlain(false);
      return 'taken';
    }
    if (this.#encoder === undefined) return 'continue';
    const text = this.#encoder.encode(data);
    if (text.length > 0 || endStream) this.#callbacks.injectResponseData(text, endStream);
    return 'taken';
  }

  override encodeTrailers(trailers: HeaderMap): TrailersStatus {
    if (!this.#isWeb) return 'continue';
    this.#call?.charge(trailers);
    if (this.#plain !== undefined) {
      this.#passPlain(true);
      return 'continue';
    }
    let text = '';
    trailers.forEach((name, value) => {
      text += `${name}:${value}\r\n`;
    });
    const body = Buffer.from(text, 'latin1');
    const frame = Buffer.concat([frameHeader(body.length, TRAILERS), body]);
    this.#callbacks.injectResponseData(
      this.#isTextAnswer ? Buffer.from(frame.toString('base64'), 'latin1') : frame,
      true,
    );
    return 'taken';
  }

  override onDestroy(): void {
    this.#plain?.body.drop();
    this.#call?.release();
  }

  /** Before trailers the message is said although it is empty, as in Envoy. */
  #passPlain(hasTrailers: boolean): void {
    if (this.#plain === undefined) return;
    const { headers, body } = this.#plain;
    const message = body.take();
    this.#plain = undefined;
    if (message.length > 0 || hasTrailers) headers.set('grpc-message', grpcMessageOf(message));
    headers.set('grpc-status', String(grpcStatusOfHttp(headers.status)));
    headers.set('content-length', '0');
    this.#callbacks.continueEncoding();
    if (!hasTrailers) this.#callbacks.injectResponseData(NOTHING, true);
  }
}
