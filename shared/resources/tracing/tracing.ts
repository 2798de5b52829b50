/**
 * How a connection manager traces its requests. Source: the `tracing` of
 * envoy.extensions.filters.network.http_connection_manager.v3, and of envoy.config.route.v3.Route.
 */
import type { MetadataKey } from '../routes/route.ts';
import type { RuntimeFraction } from '../routes/matchers.ts';
import type { TracerConfig } from './tracers.ts';

/** A tag that spans carry beside Envoy's own. Texts are byte strings. */
export type CustomTag = { readonly name: string } & (
  | { readonly kind: 'literal'; readonly value: string }
  | { readonly kind: 'header'; readonly header: string; readonly fallback: string }
  | {
      readonly kind: 'metadata';
      readonly source: 'request' | 'route' | 'cluster' | 'host';
      readonly key: MetadataKey;
      readonly fallback: string;
    }
  | { readonly kind: 'format'; readonly format: string }
);

/** Which requests are sampled, each with the runtime key that overrides it. */
interface TraceSampling {
  readonly client: RuntimeFraction;
  readonly random: RuntimeFraction;
  readonly overall: RuntimeFraction;
}

/** Formats of the names of spans; absent: Envoy's own names. */
export interface SpanNames {
  readonly operation?: string;
  readonly upstreamOperation?: string;
}

export interface TracingSettings extends SpanNames {
  readonly sampling: TraceSampling;
  readonly isVerbose: boolean;
  readonly maxPathTagLength: number;
  readonly customTags: readonly CustomTag[];
  /** Each attempt gets a span of its own. */
  readonly spawnsUpstreamSpan: boolean;
  readonly propagatesContext: boolean;
  /** The request id tells whether and why a request is traced. */
  readonly packsReason: boolean;
  /** The request id draws; otherwise every request is sampled. */
  readonly drawsByRequestId: boolean;
  /** Absent: requests are sampled and counted, and nothing is sent. */
  readonly tracer?: TracerConfig;
}

/** What a route says of it. */
export interface RouteTracing extends SpanNames {
  readonly sampling: TraceSampling;
  readonly customTags: readonly CustomTag[];
}

export interface RouteDecorator {
  readonly operation: string;
  readonly propagates: boolean;
}

/** The part of a route that tracing reads. */
export interface TracedRoute {
  readonly tracing?: RouteTracing;
  readonly decorator?: RouteDecorator;
}
