/**
 * gRPC calls of a worker's own to services: unary requests and streams in both directions, to a
 * cluster (`envoy_grpc`) or to an address (`google_grpc`). This is the interface that filters,
 * access logs and tracers use; docs/extending.md has an example.
 *
 * Everything is called within an event of the worker's loop. A call ends once, with a status.
 */
import type { Endable } from '../../shared/process/exceptions.ts';
import type { GrpcTarget } from '../../shared/resources/grpc-target.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { CompiledRetryPolicy } from '../stream/route.ts';
import type { StreamInfo } from '../stream/stream-info.ts';

/** How a call ended. `code`: 0 to 16, or whatever number the service said. */
export interface GrpcStatus {
  readonly code: number;
  readonly message: string;
  /** Response code details of the call, for messages that say how it ended. */
  readonly details?: string;
}

/** Codes that the proxy itself decides by. */
export const GrpcCode = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  deadlineExceeded: 4,
  resourceExhausted: 8,
  internal: 13,
  unavailable: 14,
} as const;

export interface GrpcCallOptions {
  /** Such as `/envoy.service.auth.v3.Authorization/Check`. */
  readonly method: string;
  /** From the end of the request to the end of the answer; 0: no limit. */
  readonly timeoutMs?: number;
  /**
   * The request or connection on whose behalf the call is made: values of the service's metadata
   * are formatted for it. Without it they go as they are written.
   */
  readonly parent?: StreamInfo | undefined;
  /** Sent behind the service's own metadata; names in lower case. */
  readonly metadata?: readonly (readonly [name: string, value: string])[];
  /** Undefined: one attempt is made. Not for addresses. */
  readonly retryPolicy?: CompiledRetryPolicy | undefined;
}

export interface GrpcRequestCallbacks extends Endable {
  /** The service's answer; nothing follows. */
  onAnswer(message: Buffer): void;
  /** In place of the answer; may be called before `call` returns. */
  onFailure(status: GrpcStatus): void;
}

export interface GrpcStreamCallbacks extends Endable {
  /** The head of the answer, before its first message. */
  onInitialMetadata?(metadata: HeaderMap): void;
  /** The message is valid during the call only. */
  onMessage(message: Buffer): void;
  /** The service ended the stream, or it broke; may be called before `open` returns. */
  onEnd(status: GrpcStatus): void;
  /** What was sent has gone: `isCongested` is false again. */
  onWritable?(): void;
}

export interface GrpcRequest {
  /** Nothing is called any more. */
  cancel(): void;
}

export interface GrpcStream extends GrpcRequest {
  /** Whether more waits to be sent than should: a caller that can stop or drop does so. */
  readonly isCongested: boolean;
  send(message: Uint8Array): void;
  /** Nothing more is sent; the service's answer is still heard. */
  endSending(): void;
  /** Back-pressure: nothing more is read of the service; counted. */
  pause(paused: boolean): void;
}

/** One configured service. */
export interface GrpcService {
  call(options: GrpcCallOptions, message: Uint8Array, callbacks: GrpcRequestCallbacks): GrpcRequest;
  open(options: GrpcCallOptions, callbacks: GrpcStreamCallbacks): GrpcStream;
  /** Once, when the code that asked for it goes; calls in progress end by themselves. */
  release(): void;
}

export interface GrpcServices {
  /** Made once per configuration that names a service. */
  service(target: GrpcTarget): GrpcService;
}
