/**
 * Entries of one log service that wait to be sent together: for so long, or until they are so many
 * bytes.
 */
import type { Clock, Timer } from '../../../../shared/process/clock.ts';
import type {
  LogServiceConfig,
  LogStream,
} from '../../../../shared/resources/access-loggers/grpc.ts';

export type EntriesReady = (stream: LogStream, entries: readonly Uint8Array[]) => void;

export class EntryBuffer {
  readonly #config: LogServiceConfig;
  readonly #clock: Clock;
  readonly #ready: EntriesReady;
  #entries: Uint8Array[] = [];
  #bytes = 0;
  #timer: Timer | undefined;

  constructor(config: LogServiceConfig, clock: Clock, ready: EntriesReady) {
    this.#config = config;
    this.#clock = clock;
    this.#ready = ready;
  }

  add(entry: Uint8Array): void {
    this.#entries.push(entry);
    this.#bytes += entry.length;
    if (this.#bytes >= this.#config.bufferBytes) return this.flush();
    this.#timer ??= this.#clock.after(this.#config.flushIntervalMs, () => this.flush(), {
      unref: true,
    });
  }

  flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#entries.length === 0) return;
    const entries = this.#entries;
    this.#entries = [];
    this.#bytes = 0;
    this.#ready(this.#config.stream, entries);
  }
}
