/**
 * Where traces, logs and statistics are sent: a collector by HTTP or gRPC. Source:
 * envoy.config.core.v3.HttpService and GrpcService.
 */
import type { GrpcTarget } from '../grpc-target.ts';
import type { HttpTarget } from '../http-target.ts';
import type { HeaderValueOption } from '../routes/headers.ts';

export interface CollectorService {
  readonly target: HttpTarget;
  readonly headers: readonly HeaderValueOption[];
}

/** The exporter of the OpenTelemetry protocol. */
export type Exporter =
  | ({ readonly kind: 'http' } & CollectorService)
  | { readonly kind: 'grpc'; readonly target: GrpcTarget; readonly timeoutMs: number };

/** In the order in which they are sent; texts are UTF-8. */
export type ResourceAttributes = readonly (readonly [name: string, value: string])[];
