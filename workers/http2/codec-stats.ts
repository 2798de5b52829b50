/** The figures of an HTTP/2 codec: of all connections of one manager, or of one cluster. */
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import { HTTP2_CODEC } from '../../shared/stats/templates/codecs.ts';
import type { Flood } from './limits/inbound-limits.ts';

type CodecStat = keyof typeof HTTP2_CODEC.index;

const FLOODS: Readonly<Record<Flood, CodecStat>> = {
  empty_frames: 'inbound_empty_frames_flood',
  priority_frames: 'inbound_priority_frames_flood',
  window_update_frames: 'inbound_window_update_frames_flood',
  outbound: 'outbound_flood',
  outbound_control: 'outbound_control_flood',
};

export class Http2Stats {
  readonly #writer: StatWriter;
  readonly #prefix: string;
  #base: number | undefined = undefined;

  /** The block is made when its first connection is. */
  constructor(writer: StatWriter, prefix: string) {
    this.#writer = writer;
    this.#prefix = prefix;
  }

  /** Counts the beginning of each connection. */
  begin(): void {
    this.#base ??= this.#writer.defineBlock(HTTP2_CODEC, this.#prefix);
  }

  count(name: CodecStat): void {
    if (this.#base !== undefined) this.#writer.increment(this.#base + HTTP2_CODEC.index[name]);
  }

  countFlood(flood: Flood): void {
    this.count(FLOODS[flood]);
  }

  /** Changes a gauge; by a negative number as well. */
  change(name: CodecStat, by: number): void {
    if (this.#base === undefined || by === 0) return;
    const index = this.#base + HTTP2_CODEC.index[name];
    if (by > 0) this.#writer.add(index, by);
    else this.#writer.subtract(index, -by);
  }

  streamOpened(): void {
    if (this.#base !== undefined) this.#writer.add(this.#base + STREAMS_ACTIVE, 1);
  }

  streamClosed(): void {
    if (this.#base !== undefined) this.#writer.subtract(this.#base + STREAMS_ACTIVE, 1);
  }

  release(): void {
    if (this.#base !== undefined) this.#writer.releaseBlock(this.#base);
  }
}

const STREAMS_ACTIVE = HTTP2_CODEC.index.streams_active;
