/**
 * A byte stream over a handle of the runtime, TCP or unix, without the sockets of node:net: no
 * event emitters, no stream states, one object per connection. Measured against net.Socket in
 * docs/performance.md. Reads land in the loop's shared buffer; a write is tried at once and what
 * the kernel does not take waits in libuv's queue, which is counted here.
 */
import { isIPv6 } from '../../shared/addresses/ip-text.ts';
import type { LocalSocket } from '../../shared/resources/clusters/cluster.ts';
import type { HeldBytes } from '../loop/held-bytes.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import { HandleAddresses } from './addressed-stream.ts';
import type { ByteStream, ByteStreamOwner } from './byte-stream.ts';
import { IMMEDIATE_CONNECT, systemError, UV_EOF } from './connection-errors.ts';
import { openLocalSocket } from './local-socket.ts';
import {
  type ConnectablePipe,
  type ConnectableTcp,
  type RuntimeHandles,
  type StreamHandle,
  type StreamRequest,
  type WriteRequest,
  runtimeHandles,
} from './runtime-handles.ts';
import { bufferLimit } from './write-blocks.ts';

export interface HandleStreamOptions {
  readonly handles: RuntimeHandles;
  /** Shared by all streams of a loop: each read is consumed before the next. */
  readonly readBuffer: Buffer;
  /** Bytes that may wait before a write says so. */
  readonly limitBytes: number;
  /** The bytes held by the loop. */
  readonly held: HeldBytes;
  readonly owner: ByteStreamOwner;
}

/** Undefined where the runtime has no handles to use directly. */
export function handleOptions(
  { readBuffer, held }: Pick<WorkerLoop, 'readBuffer' | 'held'>,
  owner: ByteStreamOwner,
  bufferLimitBytes: number,
): HandleStreamOptions | undefined {
  if (runtimeHandles === undefined) return undefined;
  const limitBytes = bufferLimit(bufferLimitBytes);
  return { handles: runtimeHandles, readBuffer, limitBytes, held, owner };
}

export type ConnectTo =
  | {
      readonly host: string;
      readonly port: number;
    }
  | { readonly path: string };

interface OwnedHandle extends StreamHandle {
  stream?: HandleStream;
}

export class HandleStream extends HandleAddresses implements ByteStream {
  pendingBytes = 0;
  readonly #handle: OwnedHandle;
  readonly #options: HandleStreamOptions;
  readonly #owner: ByteStreamOwner;
  #isConnecting: boolean;
  #isPaused = false;
  #isClosed = false;
  #isHalfOpen = false;
  #isEndAsked = false;
  #hasEnded = false;
  #hasPeerEnded = false;
  #closesAfterEnd = false;

  private constructor(handle: OwnedHandle, options: HandleStreamOptions, isConnecting: boolean) {
    super(handle);
    this.#handle = handle;
    this.#options = options;
    this.#owner = options.owner;
    this.#isConnecting = isConnecting;
    handle.stream = this;
    handle.onread = onRead;
    handle.useUserBuffer(options.readBuffer);
  }

  /** Reads from an accepted handle from now on. */
  static accepted(handle: StreamHandle, options: HandleStreamOptions): HandleStream {
    const stream = new HandleStream(handle, options, false);
    stream.#startReading();
    return stream;
  }

  /** `host` is an address, no name. What fails is said with `onStreamClose`, never thrown. */
  static connect(
    target: ConnectTo,
    local: LocalSocket | undefined,
    options: HandleStreamOptions,
  ): HandleStream {
    const { handles } = options;
    const isPipe = 'path' in target;
    const handle = isPipe ? handles.newPipe() : handles.newTcp();
    const stream = new HandleStream(handle, options, true);
    const request = isPipe ? handles.newPipeConnect() : handles.newTcpConnect();
    request.oncomplete = (status) => stream.#onConnected(status);
    const status = isPipe
      ? (handle as ConnectablePipe).connect(request, target.path)
      : connectTcp(handle as ConnectableTcp, request, { target, local });
    if (typeof status !== 'number') process.nextTick(() => stream.#finish(status));
    else if (status !== 0) stream.#breakSoon(status, IMMEDIATE_CONNECT);
    return stream;
  }

  writeText(text: string): boolean {
    if (this.#isClosed) return true;
    const request = spareWrite ?? this.#options.handles.newWrite();
    spareWrite = undefined;
    const status = this.#handle.writeLatin1String(request, text);
    return this.#afterWrite(request, status, text.length, undefined);
  }

  writeBlock(data: Uint8Array, onWritten: () => void): boolean {
    if (this.#isClosed) {
      onWritten();
      return true;
    }
    const request = this.#options.handles.newWrite();
    const status = this.#handle.writeBuffer(request, data);
    request.buffer = data;
    return this.#afterWrite(request, status, data.length, onWritten);
  }

  pause(): void {
    if (this.#isPaused || this.#isClosed) return;
    this.#isPaused = true;
    if (!this.#isConnecting) this.#handle.readStop();
  }

  resume(): void {
    if (!this.#isPaused || this.#isClosed) return;
    this.#isPaused = false;
    if (!this.#isConnecting && !this.#hasPeerEnded) this.#startReading();
  }

  keepHalfOpen(): void {
    this.#isHalfOpen = true;
  }

  end(): void {
    if (this.#isEndAsked || this.#isClosed) return;
    this.#isEndAsked = true;
    if (!this.#isConnecting) this.#shutDown();
  }

  closeAfterWrites(): void {
    this.#closesAfterEnd = true;
    if (this.#hasEnded) this.#finish(undefined);
    else this.end();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#handle.close();
  }

  reset(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // Refused while the stream is being ended; unix sockets have none.
    if (this.#handle.reset === undefined || this.#handle.reset() !== 0) this.#handle.close();
  }

  /** The handle has read, or something ended its reading. */
  onReadable(): void {
    const length = this.#options.handles.readLength();
    if (this.#isClosed || length === 0) return;
    if (length > 0) {
      this.#owner.onStreamData(length, this.#options.readBuffer);
      return;
    }
    if (length !== UV_EOF) {
      this.#finish(systemError(length, 'read'));
      return;
    }
    this.#hasPeerEnded = true;
    this.#owner.onStreamEnd();
    if (this.#isClosed) return;
    if (this.#hasEnded) this.#finish(undefined);
    else if (!this.#isHalfOpen) this.end();
  }

  #onConnected(status: number): void {
    if (this.#isClosed) return;
    this.#isConnecting = false;
    if (status !== 0) {
      this.#finish(systemError(status, 'connect'));
      return;
    }
    this.#handle.setNoDelay?.(true);
    if (!this.#isPaused) this.#startReading();
    if (this.#isEndAsked) this.#shutDown();
    this.#owner.onStreamConnect();
  }

  #startReading(): void {
    const status = this.#handle.readStart();
    if (status !== 0) this.#breakSoon(status, 'read');
  }

  #afterWrite(
    request: WriteRequest,
    status: number,
    length: number,
    onWritten: (() => void) | undefined,
  ): boolean {
    if (status !== 0) {
      this.#breakSoon(status, 'write');
      onWritten?.();
      return true;
    }
    if (!this.#options.handles.wasAsync()) {
      // The runtime holds a request only for what it writes later.
      if (onWritten === undefined) spareWrite = request;
      else onWritten();
      return true;
    }
    const { held, limitBytes } = this.#options;
    this.pendingBytes += length;
    held.add(length);
    request.oncomplete = (result) => {
      onWritten?.();
      this.#onWriteCompleted(result, length);
    };
    return this.pendingBytes < limitBytes && !held.isTight;
  }

  #onWriteCompleted(status: number, length: number): void {
    this.pendingBytes -= length;
    this.#options.held.add(-length);
    if (this.#isClosed) return;
    if (status !== 0) {
      this.#finish(systemError(status, 'write'));
      return;
    }
    if (this.pendingBytes === 0) this.#owner.onStreamDrain();
  }

  #shutDown(): void {
    const request = this.#options.handles.newShutdown();
    request.oncomplete = () => this.#onShutDown();
    const status = this.#handle.shutdown(request);
    // 1: done already. An error: the peer is gone, which reading reports.
    if (status !== 0) process.nextTick(() => this.#onShutDown());
  }

  #onShutDown(): void {
    this.#hasEnded = true;
    if (this.#hasPeerEnded || this.#closesAfterEnd) this.#finish(undefined);
  }

  /** Not within the call that found out: its caller is in the middle of something. */
  #breakSoon(status: number, call: string): void {
    process.nextTick(() => this.#finish(systemError(status, call)));
  }

  #finish(error: NodeJS.ErrnoException | undefined): void {
    if (this.#isClosed) return;
    this.close();
    this.#owner.onStreamClose(error);
  }
}

/** The request of the last write that was done at once, for the next. */
let spareWrite: WriteRequest | undefined;

function onRead(this: OwnedHandle): void {
  this.stream?.onReadable();
}

/** The status of the call, or what was wrong before it. */
function connectTcp(
  handle: ConnectableTcp,
  request: StreamRequest,
  {
    target: { host, port },
    local,
  }: {
    readonly target: Extract<ConnectTo, { readonly host: string }>;
    readonly local: LocalSocket | undefined;
  },
): number | NodeJS.ErrnoException {
  if (local !== undefined) {
    const opened = openLocalSocket(local, { host, port });
    if (typeof opened !== 'number') return opened;
    const status = handle.open(opened);
    if (status !== 0) return status;
  }
  return isIPv6(host) ? handle.connect6(request, host, port) : handle.connect(request, host, port);
}
