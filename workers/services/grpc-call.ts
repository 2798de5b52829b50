/**
 * One gRPC call to a cluster, over the proxy's own HTTP client: puts messages into bodies and takes
 * them out, and makes of everything that may happen to a response the status that Envoy makes of it.
 */
import { grpcStatusOfHttp } from '../../shared/substitution/grpc-status-of-http.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { frameMessage, type FrameFault, GrpcFrameReader } from './grpc-frames.ts';
import {
  GrpcCode,
  type GrpcStatus,
  type GrpcStream,
  type GrpcStreamCallbacks,
} from './grpc-services.ts';
import type { CallFailure, ServiceCallbacks, ServiceStream } from './service-client.ts';

const HTTP_OK = 200;
/** Details of a call that the service itself ended. */
const BY_SERVICE = 'via_upstream';
const FAULTS: Readonly<Record<FrameFault, GrpcStatus>> = {
  compressed: { code: GrpcCode.internal, message: '', details: BY_SERVICE },
  too_large: { code: GrpcCode.resourceExhausted, message: '', details: BY_SERVICE },
};
const NOTHING = Buffer.alloc(0);

export class ClusterCall implements GrpcStream, ServiceCallbacks {
  readonly #callbacks: GrpcStreamCallbacks;
  readonly #reader: GrpcFrameReader;
  #stream: ServiceStream | undefined = undefined;
  #pauses = 0;
  #hasAnswer = false;
  #hasSentAll = false;
  #isOver = false;

  constructor(callbacks: GrpcStreamCallbacks, messageLimitBytes: number) {
    this.#callbacks = callbacks;
    this.#reader = new GrpcFrameReader(messageLimitBytes, (message) => {
      this.#callbacks.onMessage(message);
      if (this.#isOver) this.#reader.stop();
    });
  }

  /** `send` makes the request, which may be over before this returns. */
  start(send: (callbacks: ServiceCallbacks) => ServiceStream | undefined): void {
    const stream = send(this);
    if (stream === undefined) {
      this.#end({ code: GrpcCode.unavailable, message: 'Cluster not available' });
      return;
    }
    if (this.#isOver) stream.cancel();
    else this.#stream = stream;
  }

  get isCongested(): boolean {
    return this.#pauses > 0;
  }

  send(message: Uint8Array): void {
    if (!this.#hasSentAll) this.#stream?.sendData(frameMessage(message), false);
  }

  /** The only message of a request: its end goes with it. */
  sendLast(message: Uint8Array): void {
    if (this.#hasSentAll) return;
    this.#hasSentAll = true;
    this.#stream?.sendData(frameMessage(message), true);
  }

  endSending(): void {
    if (this.#hasSentAll) return;
    this.#hasSentAll = true;
    this.#stream?.sendData(NOTHING, true);
  }

  pause(paused: boolean): void {
    this.#stream?.pauseResponse(paused);
  }

  cancel(): void {
    if (this.#isOver) return;
    this.#leave();
  }

  onHeaders(headers: HeaderMap, endStream: boolean): void {
    this.#hasAnswer = true;
    if (endStream && (headers.status === HTTP_OK || headers.has('grpc-status'))) {
      this.#end(statusIn(headers));
    } else if (headers.status === HTTP_OK) {
      this.#callbacks.onInitialMetadata?.(headers);
    } else {
      this.#end({ code: GrpcCode.cancelled, message: '', details: BY_SERVICE });
    }
  }

  onData(data: Buffer, endStream: boolean): void {
    if (this.#isOver) return;
    const fault = this.#reader.read(data);
    if (this.#isOver) return;
    if (fault !== undefined) this.#end(FAULTS[fault]);
    else if (endStream) this.#end({ code: GrpcCode.unknown, message: '', details: BY_SERVICE });
  }

  onTrailers(trailers: HeaderMap): void {
    if (this.#isOver) return;
    if (this.#reader.isWithin) {
      this.#end({ code: GrpcCode.internal, message: '', details: BY_SERVICE });
    } else this.#end(statusIn(trailers));
  }

  onFailure({ status, body, details }: CallFailure): void {
    if (this.#hasAnswer) this.#end({ code: GrpcCode.internal, message: '', details });
    else this.#end({ code: grpcStatusOfHttp(status), message: body, details });
  }

  pauseRequest(paused: boolean): void {
    this.#pauses += paused ? 1 : -1;
    if (!paused && this.#pauses === 0 && !this.#isOver) this.#callbacks.onWritable?.();
  }

  onException(): void {
    if (this.#isOver) return;
    this.#leave();
    this.#callbacks.onException();
  }

  #end(status: GrpcStatus): void {
    if (this.#isOver) return;
    this.#leave();
    this.#callbacks.onEnd(status);
  }

  #leave(): void {
    this.#isOver = true;
    this.#hasSentAll = true;
    const stream = this.#stream;
    this.#stream = undefined;
    stream?.cancel();
  }
}

function statusIn(metadata: HeaderMap): GrpcStatus {
  const text = metadata.get('grpc-status') ?? '';
  const message = metadata.get('grpc-message') ?? '';
  // Anything but a number is no status.
  const code = /^\d{1,9}$/.test(text) ? Number(text) : GrpcCode.unknown;
  return { code, message: unescaped(message), details: BY_SERVICE };
}

/** Percent-encoded UTF-8; what is not stays as it is. */
function unescaped(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}
