/** The Zipkin tracer. Source: envoy.config.trace.v3.ZipkinConfig. */
import type { CollectorService } from '../telemetry/collector.ts';

export interface ZipkinTracerConfig {
  readonly kind: 'zipkin';
  readonly collector: CollectorService;
  /** Spans go as protobuf, in place of JSON. */
  readonly isProtobuf: boolean;
  readonly has128BitIds: boolean;
  /** The upper half of a trace's id begins with the time. */
  readonly hasTimestampIds: boolean;
  /** A server's span is the client's, seen from the other side. */
  readonly sharesSpans: boolean;
  readonly splitsSpans: boolean;
  /** The context of W3C is read where there is none of B3, and written beside it. */
  readonly usesW3c: boolean;
}
