/**
 * The seam for what looks at the bytes of a connection while they pass, without changing them: one
 * stands between a transport and its stream, and sees plain bytes whatever carries them.
 */
import type { ByteStream, ByteStreamOwner, StreamAddresses } from './byte-stream.ts';

export interface TransportWatcher {
  /** A connection that this side opened is there, with both addresses. */
  onConnect(): void;
  /** `input` from `start` to `end`; valid during the call only. */
  onRead(input: Buffer, start: number, end: number): void;
  /** Latin-1 text or bytes, which are valid during the call only. */
  onWrite(data: string | Uint8Array): void;
  /** The connection is over. Called once. */
  onClose(): void;
}

/** Undefined: nobody wants to see this connection. Addresses are there from `onConnect` to its end. */
export type Watch = (addresses: StreamAddresses) => TransportWatcher | undefined;

/** Puts a watcher in front of the stream that `open` makes for an owner. */
export function watchedStream(
  owner: ByteStreamOwner,
  watch: Watch,
  open: (owner: ByteStreamOwner) => ByteStream,
): { readonly stream: ByteStream; readonly carrier: ByteStream } {
  const ears = new WatchedOwner(owner);
  const carrier = open(ears);
  const watcher = watch(carrier);
  if (watcher === undefined) return { stream: carrier, carrier };
  ears.watcher = watcher;
  return { stream: new WatchedStream(carrier, watcher), carrier };
}

class WatchedOwner implements ByteStreamOwner {
  readonly #owner: ByteStreamOwner;
  watcher: TransportWatcher | undefined = undefined;

  constructor(owner: ByteStreamOwner) {
    this.#owner = owner;
  }

  onStreamConnect(): void {
    this.watcher?.onConnect();
    this.#owner.onStreamConnect();
  }

  onStreamData(length: number, input: Buffer): void {
    this.watcher?.onRead(input, 0, length);
    this.#owner.onStreamData(length, input);
  }

  onStreamDrain(): void {
    this.#owner.onStreamDrain();
  }

  onStreamEnd(): void {
    this.#owner.onStreamEnd();
  }

  onStreamClose(error: NodeJS.ErrnoException | undefined): void {
    this.#owner.onStreamClose(error);
  }

  onStreamException(error: unknown): void {
    this.#owner.onStreamException(error);
  }
}

class WatchedStream implements ByteStream {
  readonly #carrier: ByteStream;
  readonly #watcher: TransportWatcher;

  constructor(carrier: ByteStream, watcher: TransportWatcher) {
    this.#carrier = carrier;
    this.#watcher = watcher;
  }

  get remoteAddress(): string | undefined {
    return this.#carrier.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.#carrier.remotePort;
  }

  get localAddress(): string | undefined {
    return this.#carrier.localAddress;
  }

  get localPort(): number | undefined {
    return this.#carrier.localPort;
  }

  get pendingBytes(): number {
    return this.#carrier.pendingBytes;
  }

  writeText(text: string): boolean {
    this.#watcher.onWrite(text);
    return this.#carrier.writeText(text);
  }

  writeBlock(data: Uint8Array, onWritten: () => void): boolean {
    this.#watcher.onWrite(data);
    return this.#carrier.writeBlock(data, onWritten);
  }

  pause(): void {
    this.#carrier.pause();
  }

  resume(): void {
    this.#carrier.resume();
  }

  keepHalfOpen(): void {
    this.#carrier.keepHalfOpen();
  }

  end(): void {
    this.#carrier.end();
  }

  closeAfterWrites(): void {
    this.#carrier.closeAfterWrites();
  }

  close(): void {
    this.#watcher.onClose();
    this.#carrier.close();
  }

  reset(): void {
    this.#watcher.onClose();
    this.#carrier.reset();
  }
}
