/**
 * Answers by code and the time that they took, below one prefix: all of them, and apart those to
 * internal and to external clients, of canaries and between two zones.
 */
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { ResponseCodeStats } from '../../shared/stats/response-code-stats.ts';

/** Whose answer it is. */
export interface AnswerOrigin {
  readonly info: Pick<StreamInfo, 'isInternalRequest' | 'upstreamHost' | 'trace' | 'startWallMs'>;
  /** The upstream said so. */
  readonly isCanary: boolean;
  /** The zone of this server; empty: unknown. */
  readonly ownZone: string;
}

export class AnswerStats {
  readonly #writer: StatWriter;
  readonly #prefix: string;
  readonly #all: ResponseCodeStats;
  readonly #internal: ResponseCodeStats;
  readonly #external: ResponseCodeStats;
  readonly #canary: ResponseCodeStats;
  readonly #zones = new Map<string, ResponseCodeStats>();

  /** `prefix` ends in a dot. */
  constructor(writer: StatWriter, prefix: string) {
    this.#writer = writer;
    this.#prefix = prefix;
    this.#all = new ResponseCodeStats(writer, prefix);
    this.#internal = new ResponseCodeStats(writer, `${prefix}internal.`);
    this.#external = new ResponseCodeStats(writer, `${prefix}external.`);
    this.#canary = new ResponseCodeStats(writer, `${prefix}canary.`);
  }

  charge(status: number, origin: AnswerOrigin): void {
    this.#all.charge(status);
    (origin.info.isInternalRequest ? this.#internal : this.#external).charge(status);
    if (origin.isCanary) this.#canary.charge(status);
    this.#zoneOf(origin)?.charge(status);
  }

  recordTime(milliseconds: number, origin: AnswerOrigin): void {
    this.#all.recordTime(milliseconds);
    (origin.info.isInternalRequest ? this.#internal : this.#external).recordTime(milliseconds);
    if (origin.isCanary) this.#canary.recordTime(milliseconds);
    this.#zoneOf(origin)?.recordTime(milliseconds);
    if (origin.info.trace?.isSampled === true) this.#exemplify(milliseconds, origin.info);
  }

  #exemplify(value: number, { trace, startWallMs }: AnswerOrigin['info']): void {
    const name = `${this.#prefix}upstream_rq_time`;
    const traceId = trace?.traceId ?? '';
    this.#writer.exemplify?.({ name, value, traceId, atMs: startWallMs + value });
  }

  release(): void {
    const all = [this.#all, this.#internal, this.#external, this.#canary, ...this.#zones.values()];
    for (const stats of all) stats.release();
  }

  /** `zone.<from>.<to>.`, where both zones are known. */
  #zoneOf({ info, ownZone }: AnswerOrigin): ResponseCodeStats | undefined {
    const zone = info.upstreamHost?.zone ?? '';
    if (zone === '' || ownZone === '') return undefined;
    const key = `${ownZone}.${zone}`;
    let stats = this.#zones.get(key);
    if (stats === undefined) {
      stats = new ResponseCodeStats(this.#writer, `${this.#prefix}zone.${key}.`);
      this.#zones.set(key, stats);
    }
    return stats;
  }
}
