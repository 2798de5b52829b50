/**
 * One stream at a time to a service of a control plane. What comes late of an earlier stream is told
 * nobody; when to open the next one is the owner's matter.
 */
import type { GrpcTarget } from '../../shared/resources/grpc-target.ts';
import { errorText } from '../../shared/text/error-text.ts';
import type { GrpcStream, GrpcStreamHandlers } from './grpc-client.ts';

/** Rejects when there is no host. */
export type OpenStream = (
  target: GrpcTarget,
  method: string,
  handlers: GrpcStreamHandlers,
) => Promise<GrpcStream>;

export interface RenewedStreamOwner {
  /** Nothing was said on this stream yet. */
  opened(stream: GrpcStream): void;
  received(bytes: Uint8Array): void;
  /** The stream is gone, or could not be opened. */
  lost(reason: string): void;
}

export class RenewedStream {
  readonly #open: (handlers: GrpcStreamHandlers) => Promise<GrpcStream>;
  readonly #owner: RenewedStreamOwner;
  #stream: GrpcStream | undefined;
  /** Counts attempts, so that a late answer is not taken for one of the stream that is there. */
  #attempt = 0;

  constructor(
    open: (handlers: GrpcStreamHandlers) => Promise<GrpcStream>,
    owner: RenewedStreamOwner,
  ) {
    this.#open = open;
    this.#owner = owner;
  }

  /** Undefined while there is none. */
  get current(): GrpcStream | undefined {
    return this.#stream;
  }

  /** Never rejects: a failure is told the owner. */
  async connect(): Promise<void> {
    const attempt = ++this.#attempt;
    const isOurs = (): boolean => attempt === this.#attempt;
    try {
      const stream = await this.#open({
        received: (bytes) => {
          if (isOurs()) this.#owner.received(bytes);
        },
        ended: (reason) => {
          if (isOurs()) this.#owner.lost(reason);
        },
      });
      if (!isOurs()) return stream.close();
      this.#stream = stream;
      this.#owner.opened(stream);
    } catch (error) {
      if (isOurs()) this.#owner.lost(errorText(error));
    }
  }

  /** Ends the stream that is there, and an attempt that is under way. */
  close(): void {
    this.#attempt++;
    this.#stream?.close();
    this.#stream = undefined;
  }
}
