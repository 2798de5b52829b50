/**
 * The latest sampled requests of a worker by histogram and magnitude of the value, so that each
 * bucket of a page may name one. Nothing is kept of requests that are not sampled.
 */
import type { Exemplar } from '../../shared/messages/exemplars.ts';

/** Histograms that have exemplars; the one that has them longest makes room for another. */
const HISTOGRAMS_MAX = 512;
/** Of each histogram, one per power of two. */
const MAGNITUDES = 20;
/** OpenMetrics allows 128 characters for all labels with their names. */
const TRACE_ID_MAX = 100;

export class ExemplarStore {
  readonly #slots = new Map<string, (Exemplar | undefined)[]>();

  note(exemplar: Exemplar): void {
    const { name, value, traceId } = exemplar;
    if (traceId === '' || traceId.length > TRACE_ID_MAX) return;
    let slots = this.#slots.get(name);
    if (slots === undefined) {
      const [oldest] = this.#slots.keys();
      if (oldest !== undefined && this.#slots.size >= HISTOGRAMS_MAX) this.#slots.delete(oldest);
      slots = Array.from({ length: MAGNITUDES }, () => undefined);
      this.#slots.set(name, slots);
    }
    slots[Math.min(MAGNITUDES - 1, 32 - Math.clz32(value))] = exemplar;
  }

  read(): readonly Exemplar[] {
    return [...this.#slots.values()].flatMap((slots) => slots.filter((slot) => slot !== undefined));
  }
}
