/**
 * Asks a rate limit service whether a request is within its limits. Source:
 * envoy.filters.http.ratelimit.
 */
import type {
  RateLimitFilterSettings,
  RateLimitOptions,
  RateLimitPerRoute,
} from '../../../../shared/resources/filters/http/limits/rate-limit.ts';
import { dottedPrefix } from '../../../../shared/stats/stat-scope.ts';
import { isEnabled, type Runtime } from '../../../loop/runtime.ts';
import { compileHeaderMutations, type HeaderMutation } from '../../../routing/header-mutations.ts';
import type { GrpcRequest, GrpcService } from '../../../services/grpc-services.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  TrailersStatus,
} from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import {
  addHeader,
  JOINED_IN_REQUESTS,
  JOINED_IN_RESPONSES,
} from '../../../stream/joined-headers.ts';
import { ResponseFlag } from '../../../stream/response-flags.ts';
import { filterStateOf } from '../../../stream/stream-info.ts';
import { addMetadata } from '../../common/add-metadata.ts';
import { ClusterCounts } from '../../common/cluster-counts.ts';
import {
  askLimit,
  type LimitAnswer,
  type LimitHeader,
  type LimitOwner,
  rateLimitHeaders,
} from '../../common/rate-limit-service.ts';
import { WaitingRequest } from '../../common/waiting-request.ts';
import type { FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';
import { LimitDescriptors } from './limit-descriptors.ts';

/** The code of gRPC. */
const RESOURCE_EXHAUSTED = 8;
const PERCENT = 100;
/** Filter state by which another filter says how much a request counts. */
const HITS_STATE = 'envoy.ratelimit.hits_addend';

interface LimitParts {
  readonly name: string;
  readonly own: RateLimitOptions;
  readonly context: FilterContext;
  readonly service: GrpcService;
  readonly descriptors: LimitDescriptors;
  readonly changes: HeaderMutation | undefined;
  readonly counts: ClusterCounts;
}

export function makeRateLimitFilter(
  { name, options: own }: RateLimitFilterSettings,
  context: FilterContext,
): FilterFactory {
  const service = context.grpc.service(own.target);
  context.onRelease(() => service.release());
  const parts: LimitParts = {
    name,
    own,
    context,
    service,
    descriptors: new LimitDescriptors(own, context),
    changes: compileHeaderMutations(
      [{ add: own.responseHeaders, remove: [] }],
      JOINED_IN_RESPONSES,
    ),
    counts: new ClusterCounts(`ratelimit.${dottedPrefix(own.statPrefix)}`, context),
  };
  return { name, create: (callbacks) => new RateLimitFilter(parts, callbacks) };
}

type Phase = 'passing' | 'asking' | 'over';

class RateLimitFilter extends PassThroughFilter implements LimitOwner {
  readonly #parts: LimitParts;
  readonly #callbacks: FilterCallbacks;
  #phase: Phase = 'passing';
  #headers: HeaderMap | undefined = undefined;
  #waiting: WaitingRequest | undefined = undefined;
  #call: GrpcRequest | undefined = undefined;
  #isSending = false;
  #toClient: readonly LimitHeader[] = [];
  #asked: ReturnType<LimitDescriptors['of']> = [];

  constructor(parts: LimitParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const { own, context } = this.#parts;
    const { runtime, loop, bufferLimitBytes } = context;
    this.#headers = headers;
    if (!isOn(own.enabled, 'ratelimit.http_filter_enabled', runtime)) return 'continue';
    if (!this.#concerns(headers)) return 'continue';
    const descriptors = this.#descriptors(headers, false);
    if (descriptors.length === 0) return 'continue';
    this.#waiting = new WaitingRequest(this.#callbacks, loop.held, bufferLimitBytes);
    this.#phase = 'asking';
    this.#asked = descriptors;
    this.#isSending = true;
    this.#call = this.#ask(descriptors, this);
    this.#isSending = false;
    return this.#hasToWait() ? 'stop' : 'continue';
  }

  override decodeData(data: Buffer, endStream: boolean): DataStatus {
    if (this.#phase === 'over') return 'stop';
    if (this.#phase === 'passing') return 'continue';
    this.#waiting?.take(data, endStream);
    return 'taken';
  }

  override decodeTrailers(trailers: HeaderMap): TrailersStatus {
    if (this.#phase !== 'asking') return 'continue';
    this.#waiting?.takeTrailers(trailers);
    return 'taken';
  }

  override encodeHeaders(headers: HeaderMap): HeadersStatus {
    this.#tellClient(headers);
    return 'continue';
  }

  override onDestroy(): void {
    const wasAsking = this.#phase === 'asking';
    this.#phase = 'over';
    this.#call?.cancel();
    this.#waiting?.drop();
    if (!wasAsking) this.#askWhenDone();
  }

  onException(): void {
    this.#callbacks.onException();
  }

  onLimit(answer: LimitAnswer | undefined): void {
    if (this.#phase !== 'asking') return;
    this.#phase = 'over';
    if (!this.#decide(answer)) {
      this.#waiting?.drop();
      return;
    }
    this.#phase = 'passing';
    for (const [name, value] of answer?.requestHeaders ?? []) {
      if (this.#headers !== undefined) addHeader(this.#headers, name, value, JOINED_IN_REQUESTS);
    }
    if (!this.#isSending) this.#waiting?.release();
  }

  /** Apart from where it is set, since a call may end while it is being made. */
  #hasToWait(): boolean {
    return this.#phase !== 'passing';
  }

  #concerns(headers: HeaderMap): boolean {
    const { requestType } = this.#parts.own;
    if (requestType === 'both') return true;
    return (headers.get('x-envoy-internal') === 'true') === (requestType === 'internal');
  }

  #descriptors(headers: HeaderMap, isDone: boolean): ReturnType<LimitDescriptors['of']> {
    if (this.#parts.counts.prefixOf(this.#callbacks.route) === undefined) return [];
    return this.#parts.descriptors.of(headers, this.#callbacks, this.#perRoute(), isDone);
  }

  #perRoute(): RateLimitPerRoute | undefined {
    return this.#callbacks.routeConfig(this.#parts.name) as RateLimitPerRoute | undefined;
  }

  #ask(descriptors: ReturnType<LimitDescriptors['of']>, owner: LimitOwner): GrpcRequest {
    const { own, service } = this.#parts;
    const { info } = this.#callbacks;
    const domain = this.#perRoute()?.domain || own.domain;
    const hits = Number(filterStateOf(info, HITS_STATE) ?? 0);
    const asked = { domain, descriptors, hits: Number.isSafeInteger(hits) && hits > 0 ? hits : 0 };
    return askLimit(service, asked, { timeoutMs: own.timeoutMs, parent: info }, owner);
  }

  /** What has to wait for the request's end; nobody waits for the answer. */
  #askWhenDone(): void {
    const headers = this.#headers;
    if (headers === undefined) return;
    const descriptors = this.#descriptors(headers, true);
    if (descriptors.length > 0) this.#ask(descriptors, NOBODY);
  }

  /** Whether the request passes. */
  #decide(answer: LimitAnswer | undefined): boolean {
    const { own, context, counts } = this.#parts;
    const { info, route } = this.#callbacks;
    if (answer === undefined) return this.#fail();
    if (answer.metadata !== undefined && Object.keys(answer.metadata).length > 0) {
      addMetadata(info, own.metadataNamespace, answer.metadata);
    }
    counts.count(route, answer.isOverLimit ? 'over_limit' : 'ok');
    this.#toClient = this.#headersFor(answer);
    if (!answer.isOverLimit) return true;
    counts.charge(route, own.limitedStatus);
    if (!isOn(own.enforced, 'ratelimit.http_filter_enforcing', context.runtime)) return true;
    this.#refuse(answer);
    return false;
  }

  #headersFor(answer: LimitAnswer): readonly LimitHeader[] {
    const { own } = this.#parts;
    const added = [...answer.responseHeaders];
    if (answer.isOverLimit && own.tellsLimited) added.push(['x-envoy-ratelimited', 'true']);
    if (answer.limits.length > 0) {
      const tells = (index: number): boolean => this.#asked[index]?.tells ?? own.rateLimitHeaders;
      added.push(...rateLimitHeaders(answer.limits, tells));
    }
    if (answer.isOverLimit && own.tellsRetry && answer.retryAfterS > 0) {
      added.push(['retry-after', String(answer.retryAfterS)]);
    }
    return added;
  }

  #refuse({ body }: LimitAnswer): void {
    const { own, changes } = this.#parts;
    const { info } = this.#callbacks;
    info.responseFlags |= ResponseFlag.rateLimited;
    this.#callbacks.sendLocalReply({
      status: own.limitedStatus,
      body,
      details: 'request_rate_limited',
      grpcStatus: own.isResourceExhausted ? RESOURCE_EXHAUSTED : undefined,
      modifyHeaders: (headers) => {
        this.#tellClient(headers);
        changes?.(headers, info);
      },
    });
  }

  /** Whether the request passes although the service did not answer. */
  #fail(): boolean {
    const { own, context, counts } = this.#parts;
    const { runtime } = context;
    const { failureModeDenyShare: share } = own;
    const { route } = this.#callbacks;
    counts.count(route, 'error');
    const denies =
      share === undefined ? own.failureModeDeny : isEnabled(share, runtime, runtime.random());
    if (!denies) {
      counts.count(route, 'failure_mode_allowed');
      return true;
    }
    this.#callbacks.info.responseFlags |= ResponseFlag.rateLimitServiceError;
    this.#callbacks.sendLocalReply({
      status: own.statusOnError,
      body: '',
      details: 'rate_limiter_error',
      grpcStatus: own.isResourceExhausted ? RESOURCE_EXHAUSTED : undefined,
    });
    return false;
  }

  /** Once: of an answer that is made here the filter sees the headers again. */
  #tellClient(headers: HeaderMap): void {
    const added = this.#toClient;
    this.#toClient = [];
    for (const [name, value] of added) addHeader(headers, name, value, JOINED_IN_RESPONSES);
  }
}

const NOBODY: LimitOwner = {
  onLimit: () => undefined,
  onException: () => undefined,
};

/** A share of the configuration, else what the runtime has under Envoy's own key. */
function isOn(
  fraction: RateLimitOptions['enabled'],
  runtimeKey: string,
  runtime: Runtime,
): boolean {
  const share = fraction ?? ({ numerator: PERCENT, denominator: PERCENT, runtimeKey } as const);
  return isEnabled(share, runtime, runtime.random());
}
