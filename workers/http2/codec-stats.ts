/** What HTTP/2 connections of one owner count: where its block of figures begins, and their names. */
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import { HTTP2_CODEC } from '../../shared/stats/templates/codecs.ts';
import type { Flood } from './inbound-limits.ts';

const { index } = HTTP2_CODEC;

const FLOODS: Readonly<Record<Flood | 'outbound_control', number>> = {
  empty_frames: index.inbound_empty_frames_flood,
  priority_frames: index.inbound_priority_frames_flood,
  window_update_frames: index.inbound_window_update_frames_flood,
  outbound_control: index.outbound_control_flood,
};

export class Http2CodecStats {
  readonly #writer: StatWriter;
  readonly #base: number;

  constructor(writer: StatWriter, base: number) {
    this.#writer = writer;
    this.#base = base;
  }

  count(name: keyof typeof index): void {
    this.#writer.increment(this.#base + index[name]);
  }

  flood(flood: Flood | 'outbound_control'): void {
    this.#writer.increment(this.#base + FLOODS[flood]);
  }

  streamOpened(): void {
    this.#writer.add(this.#base + index.streams_active, 1);
  }

  streamClosed(): void {
    this.#writer.subtract(this.#base + index.streams_active, 1);
  }
}
