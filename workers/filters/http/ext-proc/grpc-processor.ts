/** A processor that is called by gRPC: one stream, with messages in both directions. */
import type { StreamInfo } from '../../../stream/stream-info.ts';
import {
  GrpcCode,
  type GrpcService,
  type GrpcStatus,
  type GrpcStream,
} from '../../../services/grpc-services.ts';
import type { ProcessingRequest } from './messages.ts';
import { writeProcessingRequest } from './processing-request.ts';
import { readProcessingResponse } from './processing-response.ts';
import type { ProcessorCall, ProcessorCallbacks } from './processor.ts';

const METHOD = '/envoy.service.ext_proc.v3.ExternalProcessor/Process';
/** What a message that is none ends a call with. */
const GARBAGE: GrpcStatus = { code: GrpcCode.internal, message: '', details: 'via_upstream' };

export class GrpcProcessorCall implements ProcessorCall {
  readonly #owner: ProcessorCallbacks;
  readonly #stream: GrpcStream;
  #isOver = false;

  /** The owner may be called before this returns. */
  constructor(
    service: GrpcService,
    parent: StreamInfo,
    metadata: readonly (readonly [string, string])[],
    owner: ProcessorCallbacks,
  ) {
    this.#owner = owner;
    this.#stream = service.open(
      { method: METHOD, parent, metadata },
      {
        onMessage: (message) => this.#onMessage(message),
        onEnd: (status) => this.#onEnd(status),
        onWritable: () => {
          if (!this.#isOver) owner.onProcessorWritable();
        },
        onException: () => owner.onException(),
      },
    );
  }

  get isCongested(): boolean {
    return this.#stream.isCongested;
  }

  send(request: ProcessingRequest): void {
    this.#stream.send(writeProcessingRequest(request));
  }

  pause(paused: boolean): void {
    this.#stream.pause(paused);
  }

  close(politely: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (politely) this.#stream.endSending();
    this.#stream.cancel();
  }

  #onMessage(message: Buffer): void {
    if (this.#isOver) return;
    const answer = readProcessingResponse(message);
    if (answer !== undefined) return this.#owner.onAnswer(answer);
    this.#stream.cancel();
    this.#onEnd(GARBAGE);
  }

  #onEnd(status: GrpcStatus): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (status.code === GrpcCode.ok) this.#owner.onProcessorEnd();
    else this.#owner.onProcessorError(detailsOf(status), true);
  }
}

function detailsOf({ code, message, details = '' }: GrpcStatus): string {
  const how = message === '' || details === '' ? message + details : `${message}{${details}}`;
  return `ext_proc_error_gRPC_error_${code}{${how}}`.replaceAll(' ', '_');
}
