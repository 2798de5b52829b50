/**
 * Gives requests a token of Google's metadata server that says who this server is. A request goes on
 * without one where there is none. Source: envoy.filters.http.gcp_authn.
 */
import type { GcpAudience } from '../../../../shared/resources/clusters/gcp-audience.ts';
import {
  GCP_AUTHN,
  type GcpAuthnFilterSettings,
  type GcpAuthnOptions,
} from '../../../../shared/resources/filters/http/auth/gcp-authn.ts';
import { compileRetryPolicy } from '../../../routing/retry-policy.ts';
import { HttpCall, type HttpCallOwner, type HttpResponse } from '../../../services/http-call.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
} from '../../../stream/filter.ts';
import { HeaderMap } from '../../../stream/header-map.ts';
import { WaitingRequest } from '../../common/waiting-request.ts';
import type { FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';
import { parseToken } from '../jwt-authn/parse-token.ts';
import { RememberedTokens, accessTokenOf } from './gcp-tokens.ts';

interface GcpParts {
  readonly options: GcpAuthnOptions;
  readonly context: FilterContext;
  readonly retryPolicy: ReturnType<typeof compileRetryPolicy> | undefined;
  readonly tokens: RememberedTokens;
  readonly count: (stat: keyof typeof GCP_AUTHN.index) => void;
}

const HOST = 'metadata.google.internal';
const PATH = '/computeMetadata/v1/instance/service-accounts/default/';
const TOKEN_BYTES_MAX = 64 * 1024;
/** What may stand in a request's target. */
const TARGET = /^[!-~]*$/;

export function makeGcpAuthnFilter(
  { name, options }: GcpAuthnFilterSettings,
  context: FilterContext,
): FilterFactory {
  const { stats, statScope } = context;
  const base = stats.defineBlock(GCP_AUTHN, `${statScope}gcp_authn.`);
  context.onBlock(base);
  const parts: GcpParts = {
    options,
    context,
    retryPolicy: options.retryPolicy && compileRetryPolicy(options.retryPolicy),
    tokens: new RememberedTokens(options.cacheSize),
    count: (stat) => stats.increment(base + GCP_AUTHN.index[stat]),
  };
  return { name, create: (callbacks) => new GcpAuthnFilter(parts, callbacks) };
}

class GcpAuthnFilter extends PassThroughFilter implements HttpCallOwner {
  readonly #parts: GcpParts;
  readonly #callbacks: FilterCallbacks;
  #audience: GcpAudience | undefined = undefined;
  #headers: HeaderMap | undefined = undefined;
  #waiting: WaitingRequest | undefined = undefined;
  #call: HttpCall | undefined = undefined;
  /** The headers' event is not over: they go on with its result. */
  #isAsking = false;

  constructor(parts: GcpParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const { route } = this.#callbacks;
    const { options, context, tokens, count } = this.#parts;
    if (route?.kind !== 'cluster') return 'continue';
    if (options.keepsExisting && headers.has(options.header)) return 'continue';
    const audience =
      options.audience ?? context.callCluster(route.clusterName)?.resource.gcpAudience;
    if (audience === undefined) {
      count('retrieve_audience_failed');
      return 'continue';
    }
    if (audience.kind === 'identity' && audience.url === '') {
      count('empty_audience');
      return 'continue';
    }
    this.#headers = headers;
    const known = tokens.get(audience, context.loop.clock.wallMs);
    if (tokens.isKept(audience))
      count(known === undefined ? 'token_cache_miss' : 'token_cache_hit');
    if (known !== undefined) {
      this.#setToken(known);
      return 'continue';
    }
    return this.#ask(audience);
  }

  override decodeData(data: Buffer, endStream: boolean): DataStatus {
    if (this.#waiting === undefined) return 'continue';
    this.#waiting.take(data, endStream);
    return 'taken';
  }

  override decodeTrailers(trailers: HeaderMap): 'continue' | 'taken' {
    if (this.#waiting === undefined) return 'continue';
    this.#waiting.takeTrailers(trailers);
    return 'taken';
  }

  override onDestroy(): void {
    this.#call?.cancel();
    this.#waiting?.drop();
  }

  onResponse({ headers, body }: HttpResponse): void {
    const token = headers.status === 200 ? this.#read(body) : undefined;
    if (token === undefined) return this.onFailure();
    this.#parts.count('token_fetch_success');
    this.#setToken(token);
    this.#goOn();
  }

  onFailure(): void {
    this.#parts.count('token_fetch_failed');
    this.#goOn();
  }

  onException(): void {
    this.#callbacks.onException();
  }

  #ask(audience: GcpAudience): HeadersStatus {
    const { options, context } = this.#parts;
    const path = PATH + targetOf(audience);
    if (!TARGET.test(path)) {
      this.#parts.count('token_fetch_failed');
      return 'continue';
    }
    const headers = new HeaderMap();
    headers.method = 'GET';
    headers.path = path;
    headers.authority = HOST;
    headers.scheme = 'http';
    headers.add('metadata-flavor', 'Google');
    this.#audience = audience;
    this.#waiting = new WaitingRequest(
      this.#callbacks,
      context.loop.held,
      context.bufferLimitBytes,
    );
    this.#isAsking = true;
    const request = {
      cluster: options.cluster,
      headers,
      body: undefined,
      timeoutMs: options.timeoutMs,
      responseBytesMax: TOKEN_BYTES_MAX,
      connection: undefined,
      tellsAddress: false,
      retryPolicy: this.#parts.retryPolicy,
    };
    const call = HttpCall.start(context.services, request, this);
    this.#isAsking = false;
    if (this.#waiting === undefined) return 'continue';
    this.#call = call;
    return 'stop';
  }

  /** Undefined: it is no token. */
  #read(body: Buffer): string | undefined {
    const audience = this.#audience;
    const { tokens, context } = this.#parts;
    if (audience?.kind === 'access') return accessTokenOf(body);
    const text = body.toString('latin1');
    const parsed = parseToken(text);
    if (typeof parsed === 'string') return undefined;
    if (audience !== undefined) {
      tokens.put(audience, text, parsed.expires * 1000, context.loop.clock.wallMs);
    }
    return text;
  }

  #setToken(token: string): void {
    const { header, prefix } = this.#parts.options;
    this.#headers?.set(header, prefix + token);
  }

  #goOn(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#call = undefined;
    if (!this.#isAsking) waiting?.release();
  }
}

function targetOf(audience: GcpAudience): string {
  if (audience.kind === 'identity') return `identity?audience=${audience.url}`;
  const scopes = audience.scopes.join(',');
  return scopes === '' ? 'token' : `token?scopes=${scopes}`;
}
