/** What filters ask of a gRPC call: its method, whether an answer is one, where it is counted. */
import type { HeaderMap } from '../../stream/header-map.ts';
import type { ResolvedRoute } from '../../stream/route.ts';
import { isGrpcContentType } from '../../stream/grpc-status.ts';
import type { CallCounters, CallProtocol } from '../../upstream/call-stats.ts';
import type { CallCluster, FilterContext } from '../filter-context.ts';

export interface CallMethod {
  readonly service: string;
  readonly method: string;
}

/** From `/service/method`; undefined for any other path. */
export function methodOfPath(path: string): CallMethod | undefined {
  const query = path.indexOf('?');
  const parts = (query < 0 ? path : path.slice(0, query)).split('/').filter((part) => part !== '');
  const [service, method] = parts;
  if (parts.length !== 2 || service === undefined || method === undefined) return undefined;
  return { service, method };
}

export function isGrpcRequest(headers: HeaderMap): boolean {
  return headers.path !== '' && isGrpcContentType(headers.get('content-type'));
}

/** An answer that is nothing but headers says so by its status alone. */
export function isGrpcResponse(headers: HeaderMap, endStream: boolean): boolean {
  if (endStream) return headers.has('grpc-status');
  return headers.status === 200 && isGrpcContentType(headers.get('content-type'));
}

/** The counters of one call. They stay defined until `release`, whatever becomes of the cluster. */
export class CountedCall {
  readonly counters: CallCounters;
  readonly #cluster: CallCluster;

  constructor(cluster: CallCluster, protocol: CallProtocol, method: string | undefined) {
    this.#cluster = cluster;
    cluster.retained.hold();
    this.counters = cluster.stats.calls.of(protocol, method);
  }

  /** An answer's headers or trailers; nothing is counted where they have no status. */
  charge(headers: HeaderMap): void {
    const status = headers.get('grpc-status');
    if (status !== undefined) this.counters.charge(status);
  }

  release(): void {
    this.#cluster.retained.letGo();
  }
}

/** Undefined where a request goes to no cluster that is known. */
export function clusterOfCall(
  context: FilterContext,
  route: ResolvedRoute | undefined,
): CallCluster | undefined {
  return route?.kind === 'cluster' ? context.callCluster(route.clusterName) : undefined;
}

/** A call that counts under its service and method. */
export function countedCall(
  context: FilterContext,
  route: ResolvedRoute | undefined,
  protocol: CallProtocol,
  path: string,
): CountedCall | undefined {
  const name = methodOfPath(path);
  const cluster = name === undefined ? undefined : clusterOfCall(context, route);
  if (name === undefined || cluster === undefined) return undefined;
  return new CountedCall(cluster, protocol, `${name.service}.${name.method}`);
}
