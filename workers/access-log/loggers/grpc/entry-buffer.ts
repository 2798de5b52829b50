/**
 * Entries of one log that wait to be sent together: for so long, or until they are so many bytes.
 * Bounded: entries of a service that does not keep up are dropped and counted.
 */
import type { LogServiceConfig } from '../../../../shared/resources/access-loggers/grpc.ts';
import type { StatWriter } from '../../../../shared/stats/stat-writer.ts';
import { GRPC_ACCESS_LOG } from '../../../../shared/stats/templates/telemetry.ts';
import { LoopTimer, type TimerOwner } from '../../../loop/timers.ts';
import { EntryStream, type StreamEnv } from './entry-stream.ts';

/** The limit of what waits, where the configuration has none: TCP logs, and a buffer of 0 bytes. */
const WAITING_BYTES_MAX = 1024 * 1024;
/** An interval below it would keep the loop busy. */
const INTERVAL_MS_MIN = 1;
const STATS = GRPC_ACCESS_LOG.index;

export type BufferEnv = StreamEnv & { readonly stats: StatWriter };

export class EntryBuffer implements TimerOwner {
  readonly #config: LogServiceConfig;
  readonly #env: BufferEnv;
  readonly #base: number;
  readonly #stream: EntryStream;
  readonly #timer: LoopTimer;
  readonly #limitBytes: number;
  #entries: Buffer[] = [];
  #bytes = 0;

  /** `base`: of the block of statistics that all logs have together. */
  constructor(config: LogServiceConfig, env: BufferEnv, base: number) {
    this.#config = config;
    this.#env = env;
    this.#base = base;
    this.#stream = new EntryStream(config.stream, env);
    this.#timer = new LoopTimer(this, 0);
    const isLimited = this.#isHttp && config.bufferBytes > 0;
    this.#limitBytes = isLimited ? config.bufferBytes : WAITING_BYTES_MAX;
  }

  add(entry: Buffer): void {
    if (!this.#hasRoom) this.flush();
    if (!this.#hasRoom) return this.#count('logs_dropped', 1);
    // Envoy counts those of TCP nowhere but where they are flushed.
    if (this.#isHttp) this.#count('logs_written', 1);
    this.#entries.push(entry);
    this.#bytes += entry.length;
    if (this.#bytes >= this.#config.bufferBytes) this.flush();
    else this.#arm();
  }

  /** What cannot be sent now waits for the next time. */
  flush(): void {
    this.#timer.disarm();
    const { length } = this.#entries;
    if (length === 0) return;
    if (this.#stream.send(this.#entries)) {
      this.#count('grpc_entries_flushed', length);
      this.#empty();
    } else {
      this.#count('grpc_entries_flush_failed', length);
      this.#arm();
    }
  }

  /** Sends what waits; `done` is called when nothing is left to wait for. */
  end(done: () => void): void {
    this.flush();
    this.#timer.disarm();
    this.#empty();
    this.#stream.end(done);
  }

  onTimer(): void {
    this.flush();
  }

  onException(): void {
    // A message that could not be made is lost; the next ones are sent.
    this.#empty();
  }

  get #isHttp(): boolean {
    return this.#config.stream.entries === 'http';
  }

  get #hasRoom(): boolean {
    return this.#bytes < this.#limitBytes;
  }

  #empty(): void {
    this.#entries = [];
    this.#bytes = 0;
  }

  #arm(): void {
    if (this.#timer.isArmed) return;
    const ms = Math.max(INTERVAL_MS_MIN, this.#config.flushIntervalMs);
    this.#env.loop.timers.list(ms).arm(this.#timer);
  }

  #count(name: keyof typeof STATS, amount: number): void {
    this.#env.stats.add(this.#base + STATS[name], amount);
  }
}
