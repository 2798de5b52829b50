/** Settings and stats of envoy.filters.http.ext_proc. */
import type { CelExpression } from '../../../../cel/expression.ts';
import { defineTemplate } from '../../../../stats/template.ts';
import { counter } from '../../../../stats/templates/spec.ts';
import type { GrpcTarget } from '../../../grpc-target.ts';
import type { HttpTarget } from '../../../http-target.ts';
import type { HeaderValueOption } from '../../../routes/headers.ts';
import type { StringMatcher } from '../../../routes/matchers.ts';
import type { HeaderMutationRules } from '../../common/mutation-rules.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';

/** Numbers of ProcessingMode.HeaderSendMode. By default headers are sent, and trailers are not. */
export const SendMode = { byDefault: 0, send: 1, skip: 2 } as const;

/** Numbers of ProcessingMode.BodySendMode. */
export const BodyMode = {
  none: 0,
  streamed: 1,
  buffered: 2,
  bufferedPartial: 3,
  fullDuplex: 4,
  /** Nothing is sent, as in Envoy. */
  grpc: 5,
} as const;

/** What of a message is processed, by the API's own numbers, which the processor is sent. */
export interface ProcessingMode {
  readonly requestHeaders: number;
  readonly responseHeaders: number;
  readonly requestBody: number;
  readonly responseBody: number;
  readonly requestTrailers: number;
  readonly responseTrailers: number;
}

export type ProcessorService =
  | { readonly kind: 'grpc'; readonly target: GrpcTarget }
  | {
      readonly kind: 'http';
      readonly target: HttpTarget;
      readonly headers: readonly HeaderValueOption[];
    };

/** An attribute that the processor is sent, under a name. */
export interface SentAttribute {
  readonly name: string;
  readonly expression: CelExpression;
}

/** Names of metadata namespaces. */
export interface MetadataNamespaces {
  readonly sent: readonly string[];
  readonly sentTyped: readonly string[];
  /** The namespaces of the cluster's metadata that are sent. */
  readonly sentOfCluster: readonly string[];
  /** What a processor may write. */
  readonly received: readonly string[];
}

export type RouteCacheAction = 'DEFAULT' | 'CLEAR' | 'RETAIN';

/** What a route may say instead. */
export interface ExtProcOverrides {
  readonly mode?: ProcessingMode;
  readonly service?: ProcessorService;
  readonly failureModeAllow?: boolean;
  readonly requestAttributes?: readonly SentAttribute[];
  readonly responseAttributes?: readonly SentAttribute[];
  readonly metadata?: Partial<MetadataNamespaces>;
  /** Sent with the call; names in lower case. */
  readonly callMetadata: readonly (readonly [name: string, value: string])[];
}

export interface ExtProcPerRoute {
  readonly isDisabled: boolean;
  readonly overrides: ExtProcOverrides;
}

export interface ExtProcOptions {
  readonly statPrefix: string;
  readonly service: ProcessorService;
  readonly mode: ProcessingMode;
  readonly failureModeAllow: boolean;
  readonly statusOnError: number;
  readonly messageTimeoutMs: number;
  /** What a processor may ask for; 0: nothing. */
  readonly maxMessageTimeoutMs: number;
  readonly requestAttributes: readonly SentAttribute[];
  readonly responseAttributes: readonly SentAttribute[];
  readonly metadata: MetadataNamespaces;
  readonly mutationRules: HeaderMutationRules;
  /** Absent: all headers are sent. */
  readonly allowedHeaders?: readonly StringMatcher[];
  readonly disallowedHeaders: readonly StringMatcher[];
  readonly allowsModeOverride: boolean;
  /** Empty: all are allowed. */
  readonly allowedOverrideModes: readonly ProcessingMode[];
  readonly refusesImmediateResponses: boolean;
  readonly isObserver: boolean;
  readonly deferredCloseMs: number;
  readonly routeCacheAction: RouteCacheAction;
  /** Streamed bodies do not wait for the answer to their headers. */
  readonly sendsBodyEarly: boolean;
  readonly keepsContentLength: boolean;
}

/** Prefix: `http.<stat_prefix of the manager>.ext_proc.`, and the filter's own. */
export const EXT_PROC = defineTemplate('ext_proc', {
  streams_started: counter('Calls to the processor'),
  stream_msgs_sent: counter('Messages sent to the processor'),
  stream_msgs_received: counter('Messages of the processor that were carried out'),
  spurious_msgs_received: counter('Messages of the processor that nothing waited for'),
  streams_closed: counter('Calls that were ended here'),
  streams_failed: counter('Calls that failed'),
  failure_mode_allowed: counter('Requests that went on although processing failed'),
  message_timeouts: counter('Answers that did not come in time'),
  rejected_header_mutations: counter('Changes of headers that were not made'),
  override_message_timeout_received: counter('Longer waits that the processor asked for'),
  override_message_timeout_ignored: counter('Longer waits that were not allowed'),
  clear_route_cache_ignored: counter('Wishes for another route without a change of headers'),
  clear_route_cache_disabled: counter('Wishes for another route that are not allowed'),
  clear_route_cache_upstream_ignored: counter(
    'Never counted: filters before hosts ask for no other route',
  ),
  http_not_ok_resp_received: counter('Answers of an HTTP processor that could not be used'),
  immediate_responses_sent: counter('Requests that were answered here'),
  server_half_closed: counter('Calls that the processor ended'),
});

export type ExtProcFilterSettings = FilterResource<'ext_proc', ExtProcOptions>;

export const EXT_PROC_DECLARATION = declareKind<ExtProcFilterSettings>(EXT_PROC);
