/**
 * One call over gRPC's own library. Its events come from the runtime, so each enters the worker's
 * loop here; what is sent before the library is loaded waits.
 */
import type { ClientDuplexStream, Metadata } from '@grpc/grpc-js';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import { HeaderMap } from '../stream/header-map.ts';
import {
  GrpcCode,
  type GrpcStatus,
  type GrpcStream,
  type GrpcStreamCallbacks,
} from './grpc-services.ts';

export type ChannelStream = ClientDuplexStream<Buffer, Buffer>;

export interface ChannelCallOwner {
  readonly callbacks: GrpcStreamCallbacks;
  /** Once, however it ended. */
  onOver(status: GrpcStatus): void;
}

/** Messages that wait for the library before the sender is told to wait. */
const WAITING_BYTES_MAX = 1024 * 1024;

export class ChannelCall implements GrpcStream {
  readonly #loop: WorkerLoop;
  readonly #owner: ChannelCallOwner;
  #stream: ChannelStream | undefined = undefined;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #pauses = 0;
  #hasSentAll = false;
  #isOver = false;

  constructor(open: () => Promise<ChannelStream>, loop: WorkerLoop, owner: ChannelCallOwner) {
    this.#loop = loop;
    this.#owner = owner;
    void this.#open(open);
  }

  get isCongested(): boolean {
    return this.#stream?.writableNeedDrain ?? this.#waitingBytes >= WAITING_BYTES_MAX;
  }

  send(message: Uint8Array): void {
    if (this.#isOver || this.#hasSentAll) return;
    const copy = Buffer.from(message);
    if (this.#stream !== undefined) return void this.#stream.write(copy);
    this.#waiting.push(copy);
    this.#waitingBytes += copy.length;
  }

  endSending(): void {
    this.#hasSentAll = true;
    this.#stream?.end();
  }

  pause(paused: boolean): void {
    this.#pauses += paused ? 1 : -1;
    if (this.#pauses > 0) this.#stream?.pause();
    else this.#stream?.resume();
  }

  cancel(): void {
    this.#leave({ code: GrpcCode.cancelled, message: '' });
  }

  onException(): void {
    if (this.#isOver) return;
    this.cancel();
    this.#owner.callbacks.onException();
  }

  async #open(open: () => Promise<ChannelStream>): Promise<void> {
    try {
      const stream = await open();
      if (this.#isOver) return abandon(stream);
      this.#use(stream);
    } catch (error) {
      const status = { code: GrpcCode.unavailable, message: (error as Error).message };
      this.#loop.run(this, () => this.#end(status));
    }
  }

  #use(stream: ChannelStream): void {
    const { callbacks } = this.#owner;
    this.#stream = stream;
    const when = <Value>(act: (value: Value) => void): ((value: Value) => void) => {
      return (value) => {
        if (!this.#isOver) this.#loop.run(this, () => act(value));
      };
    };
    stream
      .on(
        'metadata',
        when((each: Metadata) => callbacks.onInitialMetadata?.(headersOf(each))),
      )
      .on(
        'data',
        when((message: Buffer) => callbacks.onMessage(message)),
      )
      .on(
        'drain',
        when(() => callbacks.onWritable?.()),
      )
      .on(
        'status',
        when(({ code, details }: { code: number; details: string }) =>
          this.#end({ code, message: details }),
        ),
      )
      // The status says the same.
      .on('error', () => undefined);
    if (this.#pauses > 0) stream.pause();
    for (const message of this.#waiting) stream.write(message);
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (this.#hasSentAll) stream.end();
  }

  #end(status: GrpcStatus): void {
    if (this.#isOver) return;
    this.#leave(status);
    this.#owner.callbacks.onEnd(status);
  }

  #leave(status: GrpcStatus): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#waiting = [];
    if (this.#stream !== undefined) abandon(this.#stream);
    this.#owner.onOver(status);
  }
}

function abandon(stream: ChannelStream): void {
  stream.on('error', () => undefined);
  stream.cancel();
}

function headersOf(metadata: Metadata): HeaderMap {
  const headers = new HeaderMap();
  headers.status = 200;
  for (const [name, value] of Object.entries(metadata.getMap())) headers.add(name, String(value));
  return headers;
}
