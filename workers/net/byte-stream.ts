/**
 * The seam between a transport and what carries its bytes: a handle of the runtime used directly
 * (`handle-stream.ts`) or a socket of node:net or node:tls (`socket-stream.ts`); and what a
 * transport is made of, with the handler that it serves.
 */
import type { LocalSocket } from '../../shared/resources/clusters/cluster.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { Watch } from './transport-watcher.ts';

/** Addresses of both ends as the kernel prints them; undefined on unix sockets. */
export interface StreamAddresses {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

export interface ByteStream extends StreamAddresses {
  /** Bytes that were written and that the kernel has not taken yet. */
  readonly pendingBytes: number;
  /** Latin-1 text; false when more than the limit waits now: `onStreamDrain` will follow. */
  writeText(text: string): boolean;
  /**
   * `data` is the stream's until `onWritten`, which is called in any case, also while this runs.
   */
  writeBlock(data: Uint8Array, onWritten: () => void): boolean;
  pause(): void;
  resume(): void;
  /** From now on the peer's end leaves the other direction open. */
  keepHalfOpen(): void;
  /** Ends this direction after what was written. */
  end(): void;
  /** Sends what was written, then closes; `onStreamClose` says when. */
  closeAfterWrites(): void;
  /** Closes at once and says nothing more. */
  close(): void;
  /** Closes with a reset where the kind of stream has one. */
  reset(): void;
}

/** Who hears of a stream. */
export interface ByteStreamOwner {
  onStreamConnect(): void;
  /** The first `length` bytes of `input`, valid during the call only. */
  onStreamData(length: number, input: Buffer): void;
  onStreamDrain(): void;
  /** The peer sends nothing more. */
  onStreamEnd(): void;
  /** Both directions are over, or the stream broke. Nothing follows. */
  onStreamClose(error: NodeJS.ErrnoException | undefined): void;
  /** Code that judges the stream on its way to the owner threw. */
  onStreamException(error: unknown): void;
}

/** Where a transport counts its bytes. */
export interface ByteCounters {
  readonly stats: StatWriter;
  readonly received: number;
  /** The gauge of received bytes that wait: what each open connection read last. */
  readonly waiting: number;
  readonly sent: number;
}

export interface TransportHandler {
  onConnect(): void;
  /** The peer sends nothing more; only of transports that were told to `keepHalfOpen`. */
  onRemoteEnd?(): void;
  /** `input` from `start` to `end`; valid during the call only. */
  onData(input: Buffer, start: number, end: number): void;
  /** The peer closed, or the connection broke (`error`). Nothing follows. */
  onRemoteClose(error: NodeJS.ErrnoException | undefined): void;
  onWriteBlocked(blocked: boolean): void;
  /**
   * Code that worked for the connection threw. What was written may still leave. Absent: the
   * connection is reset, and the handler hears of its end.
   */
  onException?(): void;
}

export interface TransportParts {
  readonly loop: WorkerLoop;
  readonly handler: TransportHandler;
  readonly counters: ByteCounters | undefined;
  readonly watch?: Watch | undefined;
}

export interface ConnectOptions {
  /** Undefined: as the system has it. */
  readonly local: LocalSocket | undefined;
  readonly bufferLimitBytes: number;
}
