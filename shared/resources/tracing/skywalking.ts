/** The SkyWalking tracer. Source: envoy.config.trace.v3.SkyWalkingConfig. */
import type { GrpcTarget } from '../grpc-target.ts';

export interface SkyWalkingTracerConfig {
  readonly kind: 'skywalking';
  readonly target: GrpcTarget;
  readonly serviceName: string;
  readonly instanceName: string;
  /** Segments that may wait. */
  readonly segmentsMax: number;
}
