/**
 * Turns requests into invocations of an AWS Lambda function, and what the function says into answers.
 * Source: envoy.filters.http.aws_lambda.
 */
import { EMPTY_HASH, sha256Hex } from '../../../../shared/aws/canonical-request.ts';
import {
  AWS_LAMBDA,
  type AwsLambdaFilterSettings,
  type AwsLambdaOptions,
} from '../../../../shared/resources/filters/http/aws/lambda.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  TrailersStatus,
} from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { KeptBody, refuseLargeRequest, refuseLargeResponse } from '../../common/kept-body.ts';
import { CompiledSettings, type FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';
import { readAnswer, requestJson } from './lambda-json.ts';
import { RequestSigner } from './request-signer.ts';

interface LambdaParts {
  readonly options: AwsLambdaOptions;
  readonly signer: RequestSigner;
  readonly context: FilterContext;
  /** Index of its block of stats. */
  readonly base: number;
}

const GATEWAY = 'com.amazonaws.lambda';
const NO_BODY = Buffer.alloc(0);
const SUCCESS = { min: 200, max: 299 };
/** What frames an answer is not for a function to say. */
const FRAMING = new Set(['content-length', 'transfer-encoding', 'connection', 'host']);

export function makeAwsLambdaFilter(
  { name, options }: AwsLambdaFilterSettings,
  context: FilterContext,
): FilterFactory {
  const base = context.stats.defineBlock(AWS_LAMBDA, `${context.statScope}aws_lambda.`);
  context.onBlock(base);
  const compiled = new CompiledSettings((settings: AwsLambdaOptions): LambdaParts => ({
    options: settings,
    signer: new RequestSigner(settings.signing, context),
    context,
    base,
  }));
  return {
    name,
    create: (callbacks) => {
      const ofRoute = callbacks.routeConfig(name) as AwsLambdaOptions | undefined;
      return new AwsLambdaFilter(compiled.of(ofRoute ?? options), callbacks);
    },
  };
}

class AwsLambdaFilter extends PassThroughFilter {
  readonly #parts: LambdaParts;
  readonly #callbacks: FilterCallbacks;
  #requestHeaders: HeaderMap | undefined = undefined;
  #request: KeptBody | undefined = undefined;
  #responseHeaders: HeaderMap | undefined = undefined;
  #response: KeptBody | undefined = undefined;
  #isInvocation = false;

  constructor(parts: LambdaParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    if (!this.#leadsToGateway()) return 'continue';
    this.#isInvocation = true;
    if (!endStream) {
      this.#requestHeaders = headers;
      this.#request = new KeptBody(this.#parts.context);
      return 'stop';
    }
    const body = this.#invoke(headers, NO_BODY);
    if (body.length > 0) this.#callbacks.addRequestBody(body);
    return 'continue';
  }

  override decodeData(data: Buffer, endStream: boolean): DataStatus {
    if (this.#request === undefined) return 'continue';
    if (!this.#request.add(data)) {
      refuseLargeRequest(this.#parts.context, this.#callbacks);
      return 'stop';
    }
    if (!endStream) return 'stop';
    this.#passRequest(true);
    return 'taken';
  }

  override decodeTrailers(): TrailersStatus {
    if (this.#request !== undefined) this.#passRequest(false);
    return 'continue';
  }

  override encodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    const { passesPayload, isAsynchronous } = this.#parts.options;
    this.#dropResponse();
    const isTransformed = this.#isInvocation && !passesPayload && !isAsynchronous && !endStream;
    const isSuccess = headers.status >= SUCCESS.min && headers.status <= SUCCESS.max;
    if (!isTransformed || !isSuccess || headers.has('x-amz-function-error')) return 'continue';
    this.#responseHeaders = headers;
    this.#response = new KeptBody(this.#parts.context);
    return 'stop';
  }

  override encodeData(data: Buffer, endStream: boolean): DataStatus {
    if (this.#response === undefined) return 'continue';
    if (!this.#response.add(data)) {
      this.#isInvocation = false;
      this.#dropResponse();
      refuseLargeResponse(this.#parts.context, this.#callbacks);
      return 'taken';
    }
    if (!endStream) return 'stop';
    this.#passResponse(true);
    return 'taken';
  }

  override encodeTrailers(): TrailersStatus {
    if (this.#response !== undefined) this.#passResponse(false);
    return 'continue';
  }

  override onDestroy(): void {
    this.#request?.drop();
    this.#dropResponse();
  }

  /** The cluster says that it is the way to functions. */
  #leadsToGateway(): boolean {
    const { route } = this.#callbacks;
    if (route?.kind !== 'cluster') return false;
    const cluster = this.#parts.context.callCluster(route.clusterName);
    return cluster?.resource.metadata?.[GATEWAY]?.['egress_gateway'] === true;
  }

  #passRequest(endStream: boolean): void {
    const { base, context } = this.#parts;
    const body = this.#request?.take() ?? NO_BODY;
    const headers = this.#requestHeaders;
    this.#request = undefined;
    if (headers === undefined) return;
    const sent = this.#invoke(headers, body);
    context.stats.record(base + AWS_LAMBDA.index.upstream_rq_payload_size, sent.length);
    this.#callbacks.continueDecoding();
    this.#callbacks.injectRequestData(sent, endStream);
  }

  /** Makes the headers an invocation's, and gives its body. */
  #invoke(headers: HeaderMap, body: Buffer): Buffer {
    const { options, signer } = this.#parts;
    const { arn, passesPayload, isAsynchronous, signing } = options;
    const sent = passesPayload ? body : requestJson(headers, body);
    if (!passesPayload) {
      headers.set('content-type', 'application/json');
      headers.set('content-length', String(sent.length));
    }
    headers.method = 'POST';
    headers.path = `/2015-03-31/functions/${arn}/invocations`;
    headers.set('x-amz-invocation-type', isAsynchronous ? 'Event' : 'RequestResponse');
    if (signing.hostRewrite !== '') headers.authority = signing.hostRewrite;
    signer.sign(headers, sent.length === 0 ? EMPTY_HASH : sha256Hex(sent));
    return sent;
  }

  #passResponse(endStream: boolean): void {
    const headers = this.#responseHeaders;
    const bytes = this.#response?.take() ?? NO_BODY;
    this.#dropResponse();
    if (headers === undefined) return;
    const body = this.#answerOf(headers, bytes);
    headers.remove('transfer-encoding');
    headers.set('content-length', String(body.length));
    this.#callbacks.continueEncoding();
    this.#callbacks.injectResponseData(body, endStream);
  }

  #answerOf(headers: HeaderMap, bytes: Buffer): Buffer {
    const answer = readAnswer(bytes);
    if (answer === undefined) {
      const { context, base } = this.#parts;
      context.stats.increment(base + AWS_LAMBDA.index.server_error);
      headers.status = 500;
      return NO_BODY;
    }
    if (answer.status !== undefined) headers.status = answer.status;
    for (const [name, value] of answer.headers) {
      if (!FRAMING.has(name)) headers.set(name, value);
    }
    for (const cookie of answer.cookies) headers.add('set-cookie', cookie);
    return answer.body;
  }

  #dropResponse(): void {
    this.#response?.drop();
    this.#response = undefined;
    this.#responseHeaders = undefined;
  }
}
