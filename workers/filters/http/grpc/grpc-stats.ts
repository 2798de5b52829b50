/**
 * Counts gRPC calls and their messages per cluster, service and method, and tells how many messages
 * a call had. Source: envoy.filters.http.grpc_stats.
 */
import type {
  GrpcStatsFilterSettings,
  GrpcStatsOptions,
} from '../../../../shared/resources/filters/http/grpc/grpc-stats.ts';
import { FilterState } from '../../../net/filter-state.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  TrailersStatus,
} from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import {
  type CallMethod,
  clusterOfCall,
  CountedCall,
  isGrpcRequest,
  isGrpcResponse,
  methodOfPath,
} from '../../common/grpc-call.ts';
import { FrameCounter } from '../../common/grpc-frames.ts';
import type { FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';

const STATE_KEY = 'envoy.filters.http.grpc_stats';

/** The name that a call counts under, undefined where it counts for the cluster alone. */
type NameOf = (call: CallMethod) => string | undefined;

interface GrpcStatsParts {
  readonly options: GrpcStatsOptions;
  readonly nameOf: NameOf;
  readonly context: FilterContext;
}

export function makeGrpcStatsFilter(
  { name, options }: GrpcStatsFilterSettings,
  context: FilterContext,
): FilterFactory {
  const parts = { options, context, nameOf: namesOf(options.methods) };
  return { name, create: (callbacks) => new GrpcStatsFilter(parts, callbacks) };
}

function namesOf(methods: GrpcStatsOptions['methods']): NameOf {
  if (methods.kind === 'listed') {
    const listed = new Set(methods.names);
    return ({ service, method }) =>
      listed.has(`${service}/${method}`) ? `${service}.${method}` : undefined;
  }
  const { replacesDots } = methods;
  return ({ service, method }) =>
    `${replacesDots ? service.replaceAll('.', '_') : service}.${method}`;
}

class GrpcStatsFilter extends PassThroughFilter {
  readonly #parts: GrpcStatsParts;
  readonly #callbacks: FilterCallbacks;
  #call: CountedCall | undefined = undefined;
  /** Set for requests and answers that are gRPC. */
  #request: FrameCounter | undefined = undefined;
  #response: FrameCounter | undefined = undefined;

  constructor(parts: GrpcStatsParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    if (!isGrpcRequest(headers)) return 'continue';
    this.#request = new FrameCounter();
    const method = methodOfPath(headers.path);
    if (method === undefined) return 'continue';
    const { context, nameOf } = this.#parts;
    const cluster = clusterOfCall(context, this.#callbacks.route);
    if (cluster !== undefined) this.#call = new CountedCall(cluster, 'grpc', nameOf(method));
    return 'continue';
  }

  override decodeData(data: Buffer): DataStatus {
    const count = this.#request?.inspect(data) ?? 0;
    if (count > 0) {
      this.#keepState();
      this.#call?.counters.addRequestMessages(count);
    }
    return 'continue';
  }

  override encodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    if (isGrpcResponse(headers, endStream)) this.#response = new FrameCounter();
    this.#call?.charge(headers);
    if (endStream) this.#recordTime();
    return 'continue';
  }

  override encodeData(data: Buffer): DataStatus {
    const count = this.#response?.inspect(data) ?? 0;
    if (count > 0) {
      this.#keepState();
      this.#call?.counters.addResponseMessages(count);
    }
    return 'continue';
  }

  override encodeTrailers(trailers: HeaderMap): TrailersStatus {
    this.#call?.charge(trailers);
    this.#recordTime();
    return 'continue';
  }

  override onDestroy(): void {
    this.#call?.release();
  }

  #recordTime(): void {
    const { lastUpstreamTxMs: sentMs, lastUpstreamRxMs: receivedMs } = this.#callbacks.info;
    if (!this.#parts.options.recordsUpstreamTime || sentMs < 0 || receivedMs < 0) return;
    this.#call?.counters.recordUpstreamTime(Math.max(0, Math.floor(receivedMs - sentMs)));
  }

  #keepState(): void {
    if (!this.#parts.options.emitsFilterState) return;
    const { info } = this.#callbacks;
    const requests = this.#request?.count ?? 0;
    const responses = this.#response?.count ?? 0;
    (info.filterState ??= new FilterState()).keepMessage(
      STATE_KEY,
      `${requests},${responses}`,
      `{"requestMessageCount":"${requests}","responseMessageCount":"${responses}"}`,
    );
  }
}
