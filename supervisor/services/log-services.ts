/**
 * Access logs that go to services over gRPC: one stream per service and log, fed by all workers. A
 * stream is opened with the first entries and again after it has ended; what comes meanwhile is
 * dropped.
 */
import protobuf from 'protobufjs/minimal.js';
import type { LogStream } from '../../shared/resources/access-loggers/grpc.ts';
import type { GrpcTarget } from '../../shared/resources/grpc-target.ts';
import { GRPC_ACCESS_LOG } from '../../shared/stats/templates/grpc-access-log.ts';
import type { LogNotice } from '../../shared/messages/worker-notices.ts';
import type { StatStore } from '../stats/stat-store.ts';
import type { GrpcStream, GrpcStreamHandlers } from './grpc-client.ts';

const LOGS_METHOD = '/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs';

export interface LogServicesOptions {
  readonly stats: StatStore;
  /** Rejects when there is no host. */
  open(target: GrpcTarget, method: string, handlers: GrpcStreamHandlers): Promise<GrpcStream>;
  /** The start of each stream's first message: the encoded field `identifier`. */
  identifier(logName: string): Promise<Uint8Array>;
  /** A stream could not be opened, or has ended. */
  onLost(reason: string): void;
}

interface OpenStream {
  readonly grpc: GrpcStream;
  /** Of the first message. */
  identifier: Uint8Array | undefined;
}

/** `http_logs` and `tcp_logs` of StreamAccessLogsMessage, messages of repeated `log_entry`. */
const FIELDS = { http: (2 << 3) | 2, tcp: (3 << 3) | 2 } as const;
const LOG_ENTRY = (1 << 3) | 2;
/** Entries that wait while a stream is being opened. */
const WAITING_ENTRIES_MAX = 10_000;

export class LogServices {
  readonly #options: LogServicesOptions;
  readonly #streams = new Map<string, OpenStream>();
  /** By stream: entries for those that are being opened. */
  readonly #waiting = new Map<string, Uint8Array[]>();
  #base: number | undefined;

  constructor(options: LogServicesOptions) {
    this.#options = options;
  }

  heard({ stream, entries, dropped }: LogNotice): void {
    this.#count('logs_dropped', dropped);
    this.#count('logs_written', entries.length);
    const key = JSON.stringify(stream);
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) {
      const taken = entries.slice(0, WAITING_ENTRIES_MAX - waiting.length);
      waiting.push(...taken);
      this.#count('grpc_entries_flush_failed', entries.length - taken.length);
      return;
    }
    const open = this.#streams.get(key);
    if (open !== undefined) return this.#send(stream, open, entries);
    this.#waiting.set(key, [...entries]);
    void this.#open(key, stream);
  }

  /** What was sent still arrives. */
  close(): void {
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    for (const { grpc } of streams) void grpc.finish();
  }

  async #open(key: string, stream: LogStream): Promise<void> {
    try {
      const identifier = await this.#options.identifier(stream.logName);
      const grpc = await this.#options.open(stream.target, LOGS_METHOD, {
        received: () => undefined,
        ended: (reason) => {
          if (this.#streams.get(key)?.grpc !== grpc) return;
          this.#streams.delete(key);
          this.#options.onLost(reason);
        },
      });
      const open = { grpc, identifier };
      this.#streams.set(key, open);
      this.#send(stream, open, this.#takeWaiting(key));
    } catch (error) {
      this.#count('grpc_entries_flush_failed', this.#takeWaiting(key).length);
      this.#options.onLost((error as Error).message);
    }
  }

  #takeWaiting(key: string): readonly Uint8Array[] {
    const entries = this.#waiting.get(key) ?? [];
    this.#waiting.delete(key);
    return entries;
  }

  #send({ entries: kind }: LogStream, open: OpenStream, entries: readonly Uint8Array[]): void {
    if (open.grpc.isCongested) return this.#count('grpc_entries_flush_failed', entries.length);
    const message = protobuf.Writer.create();
    // Fields of a message may be joined as bytes.
    if (open.identifier !== undefined) message.raw(open.identifier);
    open.identifier = undefined;
    message.uint32(FIELDS[kind]).fork();
    for (const entry of entries) message.uint32(LOG_ENTRY).bytes(entry);
    open.grpc.send(message.ldelim().finish());
    this.#count('grpc_entries_flushed', entries.length);
  }

  /** The statistics are there once there is a log service. */
  #count(name: keyof typeof GRPC_ACCESS_LOG.index, amount: number): void {
    const { stats } = this.#options;
    this.#base ??= stats.defineBlock(GRPC_ACCESS_LOG, 'access_logs.grpc_access_log.');
    stats.add(this.#base + GRPC_ACCESS_LOG.index[name], amount);
  }
}
