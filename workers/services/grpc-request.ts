/** A unary call over a stream: one message there, and one back. */
import {
  GrpcCode,
  type GrpcRequestCallbacks,
  type GrpcStatus,
  type GrpcStreamCallbacks,
} from './grpc-services.ts';

export class UnaryCallbacks implements GrpcStreamCallbacks {
  readonly #callbacks: GrpcRequestCallbacks;
  #answer: Buffer | undefined = undefined;

  constructor(callbacks: GrpcRequestCallbacks) {
    this.#callbacks = callbacks;
  }

  /** The last of several counts, as in Envoy. */
  onMessage(message: Buffer): void {
    this.#answer = Buffer.from(message);
  }

  onEnd(status: GrpcStatus): void {
    const answer = this.#answer;
    if (status.code !== GrpcCode.ok) return this.#callbacks.onFailure(status);
    if (answer !== undefined) return this.#callbacks.onAnswer(answer);
    this.#callbacks.onFailure({ code: GrpcCode.internal, message: '' });
  }

  onException(): void {
    this.#callbacks.onException();
  }
}
