/** Signs requests for AWS. Source: envoy.filters.http.aws_request_signing. */
import { createHash, type Hash } from 'node:crypto';
import { EMPTY_HASH, UNSIGNED_PAYLOAD } from '../../../../shared/aws/canonical-request.ts';
import {
  AWS_REQUEST_SIGNING,
  type AwsRequestSigningFilterSettings,
  type AwsSigningOptions,
  type AwsSigningPerRoute,
} from '../../../../shared/resources/filters/http/aws/request-signing.ts';
import type { DataStatus, FilterFactory, HeadersStatus } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { CompiledSettings, type FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';
import { RequestSigner } from './request-signer.ts';

interface SigningParts {
  readonly options: AwsSigningOptions;
  readonly signer: RequestSigner;
  readonly count: (stat: keyof typeof AWS_REQUEST_SIGNING.index) => void;
}

export function makeAwsRequestSigningFilter(
  { name, options }: AwsRequestSigningFilterSettings,
  context: FilterContext,
): FilterFactory {
  const ofChain = makeParts(options, context.statScope, context);
  const ofRoutes = new CompiledSettings((settings: AwsSigningPerRoute) =>
    makeParts(settings.options, settings.statPrefix, context),
  );
  return {
    name,
    create: (callbacks) => {
      const settings = callbacks.routeConfig(name) as AwsSigningPerRoute | undefined;
      const parts = settings === undefined ? ofChain : ofRoutes.of(settings);
      return new AwsRequestSigningFilter(parts);
    },
  };
}

function makeParts(
  options: AwsSigningOptions,
  prefix: string,
  context: FilterContext,
): SigningParts {
  const { stats } = context;
  const base = stats.defineBlock(AWS_REQUEST_SIGNING, `${prefix}aws_request_signing.`);
  context.onBlock(base);
  return {
    options,
    signer: new RequestSigner(options, context),
    count: (stat) => stats.increment(base + AWS_REQUEST_SIGNING.index[stat]),
  };
}

class AwsRequestSigningFilter extends PassThroughFilter {
  readonly #parts: SigningParts;
  #headers: HeaderMap | undefined = undefined;
  /** The hash of the body, which is waited for: its length is bounded by what a stream may keep. */
  #hash: Hash | undefined = undefined;

  constructor(parts: SigningParts) {
    super();
    this.#parts = parts;
  }

  override decodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    const { hostRewrite, isPayloadUnsigned } = this.#parts.options;
    if (hostRewrite !== '') headers.authority = hostRewrite;
    if (!isPayloadUnsigned && !endStream) {
      this.#headers = headers;
      this.#hash = createHash('sha256');
      return 'stop';
    }
    const hash = isPayloadUnsigned ? UNSIGNED_PAYLOAD : EMPTY_HASH;
    headers.set('x-amz-content-sha256', hash);
    this.#sign(headers, hash);
    return 'continue';
  }

  override decodeData(data: Buffer, endStream: boolean): DataStatus {
    if (this.#hash === undefined) return 'continue';
    this.#hash.update(data);
    if (!endStream) return 'stop_and_buffer';
    this.#signBody();
    return 'continue';
  }

  override decodeTrailers(): HeadersStatus {
    this.#signBody();
    return 'continue';
  }

  #signBody(): void {
    const hash = this.#hash;
    this.#hash = undefined;
    if (hash === undefined || this.#headers === undefined) return;
    this.#sign(this.#headers, hash.digest('hex'));
    this.#parts.count('payload_signing_added');
  }

  #sign(headers: HeaderMap, hash: string): void {
    this.#parts.signer.sign(headers, hash);
    this.#parts.count('signing_added');
  }
}
