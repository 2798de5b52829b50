/** A gRPC service that is a cluster (`envoy_grpc`). */
import type { GrpcTarget } from '../../shared/resources/grpc-target.ts';
import { compileRetryPolicy } from '../routing/retry-policy.ts';
import { HeaderMap } from '../stream/header-map.ts';
import { pseudoOrder } from '../stream/pseudo-order.ts';
import type { CompiledRetryPolicy } from '../stream/route.ts';
import { compileMetadata, isBinary, type CallMetadata } from './call-metadata.ts';
import { ClusterCall } from './grpc-call.ts';
import { UnaryCallbacks } from './grpc-request.ts';
import type {
  GrpcCallOptions,
  GrpcRequest,
  GrpcRequestCallbacks,
  GrpcService,
  GrpcStream,
  GrpcStreamCallbacks,
} from './grpc-services.ts';
import type { ServiceClient } from './service-client.ts';

export type ClusterTarget = Extract<GrpcTarget, { readonly kind: 'cluster' }>;

/** A message of a service that is larger ends its call, where no limit is configured. */
const MESSAGE_LIMIT_BYTES = 16 * 1024 * 1024;
/** What `grpc-timeout` may say: eight digits. */
const TIMEOUT_DIGITS_MAX = 99_999_999;
const PSEUDO_ORDER = pseudoOrder(':method', ':path', ':authority', ':scheme');

export class ClusterService implements GrpcService {
  readonly #target: ClusterTarget;
  readonly #services: ServiceClient;
  readonly #metadata: CallMetadata;
  readonly #retryPolicy: CompiledRetryPolicy | undefined;

  constructor(target: ClusterTarget, services: ServiceClient) {
    this.#target = target;
    this.#services = services;
    this.#metadata = compileMetadata(target.metadata);
    this.#retryPolicy = target.retryPolicy && compileRetryPolicy(target.retryPolicy);
  }

  call(
    options: GrpcCallOptions,
    message: Uint8Array,
    callbacks: GrpcRequestCallbacks,
  ): GrpcRequest {
    const call = this.#begin(options, new UnaryCallbacks(callbacks));
    call.sendLast(message);
    return call;
  }

  open(options: GrpcCallOptions, callbacks: GrpcStreamCallbacks): GrpcStream {
    return this.#begin(options, callbacks);
  }

  release(): void {
    // Connections and statistics are the cluster's.
  }

  #begin(options: GrpcCallOptions, callbacks: GrpcStreamCallbacks): ClusterCall {
    const { cluster, maxMessageBytes = MESSAGE_LIMIT_BYTES, omitsEnvoyHeaders } = this.#target;
    const call = new ClusterCall(callbacks, maxMessageBytes);
    const request = {
      headers: this.#headers(options),
      endStream: false,
      timeoutMs: options.timeoutMs ?? 0,
      connection: options.parent?.connection,
      tellsAddress: omitsEnvoyHeaders !== true,
      tellsInternal: omitsEnvoyHeaders !== true,
      retryPolicy: options.retryPolicy ?? this.#retryPolicy,
    };
    call.start((heard) => this.#services.send(cluster, request, heard));
    return call;
  }

  #headers({ method, timeoutMs = 0, parent, metadata = [] }: GrpcCallOptions): HeaderMap {
    const headers = new HeaderMap();
    headers.pseudoOrder = PSEUDO_ORDER;
    headers.method = 'POST';
    headers.path = method;
    headers.authority = this.#target.authority;
    headers.scheme = 'http';
    // Known to be fit, so nothing has to look.
    headers.addParsed('te', 'trailers', 'te');
    if (timeoutMs > 0) headers.addParsed('grpc-timeout', grpcTimeout(timeoutMs), 'grpc-timeout');
    headers.addParsed('content-type', 'application/grpc', 'content-type');
    const put = (name: string, value: string): void => {
      headers.set(name, isBinary(name) ? Buffer.from(value).toString('base64') : value);
    };
    this.#metadata(parent, put);
    for (const [name, value] of metadata) put(name, value);
    return headers;
  }
}

function grpcTimeout(ms: number): string {
  const whole = Math.ceil(ms);
  return whole <= TIMEOUT_DIGITS_MAX ? `${whole}m` : `${Math.ceil(whole / 1000)}S`;
}
