/**
 * Lets clients of HTTP and JSON call methods of gRPC by the paths that `google.api.http` gives them.
 * Source: envoy.filters.http.grpc_json_transcoder.
 */
import type {
  TranscoderFilterSettings,
  TranscoderOptions,
} from '../../../../shared/resources/filters/http/grpc-json-transcoder.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  TrailersStatus,
} from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { isGrpcRequest } from '../../common/grpc-call.ts';
import { CompiledSettings, type FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';
import { TranscodeError } from './json-text.ts';
import { RequestBody } from './request-body.ts';
import { ResponseBody } from './response-body.ts';
import { type TranscodedCall, Transcoding } from './transcoding.ts';

const DETAILS = 'grpc_json_transcode_failure';
const NOTHING = Buffer.alloc(0);

export function makeTranscoderFilter(
  { name, options }: TranscoderFilterSettings,
  context: FilterContext,
): FilterFactory {
  const compiled = new CompiledSettings((each: TranscoderOptions) => new Transcoding(each));
  const ofChain = compiled.of(options);
  return {
    name,
    create: (callbacks) => {
      const ofRoute = callbacks.routeConfig(name) as TranscoderOptions | undefined;
      const transcoding = ofRoute === undefined ? ofChain : compiled.of(ofRoute);
      return transcoding.options.bindings.length === 0
        ? new PassThroughFilter()
        : new TranscoderFilter(transcoding, context, callbacks);
    },
  };
}

class TranscoderFilter extends PassThroughFilter {
  readonly #transcoding: Transcoding;
  readonly #context: FilterContext;
  readonly #callbacks: FilterCallbacks;
  #call: TranscodedCall | undefined = undefined;
  #request: RequestBody | undefined = undefined;
  #response: ResponseBody | undefined = undefined;

  constructor(transcoding: Transcoding, context: FilterContext, callbacks: FilterCallbacks) {
    super();
    this.#transcoding = transcoding;
    this.#context = context;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    if (isGrpcRequest(headers)) return 'continue';
    const [path, query] = splitPath(headers.path);
    const found = this.#transcoding.find(headers.method, path, query);
    if (found.kind !== 'call') {
      const { rejects } = this.#transcoding.options;
      if (found.kind === 'no_method') {
        if (!rejects.unknownMethod) return 'continue';
        return this.#refuseEarly(404, `Could not resolve ${path} to a method.`, 'NOT_FOUND');
      }
      if (!rejects.unknownQueryParameters) return 'continue';
      return this.#refuseEarly(400, found.details, 'INVALID_ARGUMENT');
    }
    const { call } = found;
    const contentType = headers.get('content-type') ?? '';
    this.#rewrite(headers, call);
    this.#call = call;
    this.#request = new RequestBody(this.#transcoding, call, contentType, this.#context);
    if (!endStream) return 'continue';
    try {
      this.#callbacks.addRequestBody(this.#request.whole());
    } catch (error) {
      if (!(error instanceof TranscodeError)) throw error;
      return this.#refuseEarly(400, error.message, 'INVALID_ARGUMENT');
    }
    return 'continue';
  }

  override decodeData(data: Buffer, endStream: boolean): DataStatus {
    const request = this.#request;
    if (request === undefined) return 'continue';
    const body = this.#attempt(() => (endStream ? request.end(data) : request.add(data)));
    if (body === undefined) return 'stop';
    if (body.length > 0 || endStream) this.#callbacks.injectRequestData(body, endStream);
    return 'taken';
  }

  override decodeTrailers(): TrailersStatus {
    const request = this.#request;
    if (request === undefined) return 'continue';
    const body = this.#attempt(() => request.end(NOTHING));
    if (body === undefined) return 'stop';
    if (body.length > 0) this.#callbacks.injectRequestData(body, false);
    return 'continue';
  }

  override encodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    // An answer made here may come after one that was kept.
    this.#response?.drop();
    this.#response = undefined;
    if (this.#call === undefined) return 'continue';
    const response = new ResponseBody(
      this.#transcoding,
      this.#call,
      this.#context,
      this.#callbacks,
    );
    const status = response.begin(headers, endStream);
    if (response.isTranscoded) this.#response = response;
    return status;
  }

  override encodeData(data: Buffer, endStream: boolean): DataStatus {
    const response = this.#response;
    if (response === undefined) return 'continue';
    this.#answered(() => response.add(data, endStream));
    return 'taken';
  }

  override encodeTrailers(trailers: HeaderMap): TrailersStatus {
    const response = this.#response;
    if (response === undefined) return 'continue';
    return this.#answered(() => response.end(trailers)) ? 'continue' : 'taken';
  }

  override onDestroy(): void {
    this.#request?.drop();
    this.#response?.drop();
  }

  /** What the method's host sees in place of the client's request. */
  #rewrite(headers: HeaderMap, { method }: TranscodedCall): void {
    this.#callbacks.info.isGrpcClient = false;
    headers.remove('content-length');
    headers.set('content-type', 'application/grpc');
    headers.set('x-envoy-original-path', headers.path);
    headers.set('x-envoy-original-method', headers.method);
    headers.path = method.path;
    headers.method = 'POST';
    headers.set('te', 'trailers');
    if (!this.#transcoding.options.keepsRoute) this.#callbacks.clearRoute();
  }

  /** Undefined after an answer that says what was wrong. */
  #attempt(make: () => Buffer | undefined): Buffer | undefined {
    try {
      const body = make();
      if (body !== undefined) return body;
      this.#reply(
        413,
        "Request rejected because the transcoder's internal buffer size exceeds the configured limit.",
        `${DETAILS}{request_buffer_size_limit_reached}`,
      );
    } catch (error) {
      if (!(error instanceof TranscodeError)) throw error;
      this.#reply(400, error.message, `${DETAILS}{INVALID_ARGUMENT}`);
    }
    return undefined;
  }

  /** False after an answer in place of one that cannot be transcoded. */
  #answered(pass: () => boolean): boolean {
    try {
      if (pass()) return true;
      this.#reply(
        500,
        "Response not transcoded because the transcoder's internal buffer size exceeds the configured limit.",
        `${DETAILS}{response_buffer_size_limit_reached}`,
      );
    } catch (error) {
      if (!(error instanceof TranscodeError)) throw error;
      this.#reply(502, error.message, `${DETAILS}{INVALID_ARGUMENT}`);
    }
    return false;
  }

  #refuseEarly(status: number, body: string, code: string): HeadersStatus {
    this.#reply(status, body, `early_${DETAILS}{${code}}`);
    return 'stop';
  }

  /** It is not transcoded itself. */
  #reply(status: number, text: string, details: string): void {
    this.#call = undefined;
    this.#request?.drop();
    this.#request = undefined;
    this.#callbacks.sendLocalReply({
      status,
      body: Buffer.from(text, 'utf8'),
      details,
      // As with every bad request of HTTP/1 in Envoy.
      closesConnection: status === 400 || status === 413,
    });
  }
}

function splitPath(path: string): readonly [path: string, query: string] {
  const at = path.indexOf('?');
  return at < 0 ? [path, ''] : [path.slice(0, at), path.slice(at + 1)];
}
