/** What one host did within the last minute, in intervals that push each other out. */
import { HOST } from '../../shared/stats/templates/cluster.ts';
import type { Definition, StatStore } from '../stats/stat-store.ts';

/** Of five seconds. */
const INTERVALS_PER_MINUTE = 12;

const COUNTED = [
  HOST.index.rq_total,
  HOST.index.rq_error,
  HOST.index.cx_connect_fail,
  HOST.index.rq_timed,
  HOST.index.rq_took_ms,
] as const;
const WIDTH = COUNTED.length;

export interface HostMinute {
  readonly cluster: string;
  readonly host: string;
  readonly requests: number;
  readonly errors: number;
  readonly connectFailures: number;
  /** Undefined: no answer came whole. */
  readonly meanMs: number | undefined;
}

/** Where it stands in the configuration. */
export interface HostPlace {
  readonly cluster: string;
  readonly host: string;
}

export class HostTrack {
  readonly place: HostPlace;
  readonly definition: Definition;
  readonly #totals = new Float64Array(WIDTH);
  /** Absent while the host does nothing. */
  #gains: Float64Array | undefined;
  readonly #sums = new Float64Array(WIDTH);

  /** Its counts begin with those of the store, or at zero for a host that is new. */
  constructor(place: HostPlace, definition: Definition) {
    this.place = place;
    this.definition = definition;
  }

  get isActive(): boolean {
    return this.#gains !== undefined;
  }

  /** Takes what was counted so far as nothing new. */
  begin(store: Pick<StatStore, 'valueOf'>): void {
    COUNTED.forEach((offset, at) => {
      this.#totals[at] = store.valueOf(this.definition.base + offset);
    });
  }

  /**
   * Ends an interval. `mayBegin`: a host that did nothing before may take memory for its intervals.
   */
  advance(store: Pick<StatStore, 'valueOf'>, interval: number, mayBegin: boolean): void {
    const { base } = this.definition;
    const at = (interval % INTERVALS_PER_MINUTE) * WIDTH;
    let isMoving = false;
    for (let position = 0; position < WIDTH; position++) {
      const total = store.valueOf(base + (COUNTED[position] as number));
      const gain = Math.max(0, total - (this.#totals[position] as number));
      if (gain > 0 && this.#gains === undefined) {
        // It stays to be told until there is room.
        if (!mayBegin) return;
        this.#gains = new Float64Array(WIDTH * INTERVALS_PER_MINUTE);
      }
      this.#totals[position] = total;
      if (this.#gains === undefined) continue;
      const sum = (this.#sums[position] as number) + gain - (this.#gains[at + position] as number);
      this.#gains[at + position] = gain;
      this.#sums[position] = sum;
      isMoving ||= sum > 0;
    }
    if (!isMoving) this.#gains = undefined;
  }

  /** Undefined for a host that did nothing; what came since the last interval counts too. */
  read(store: Pick<StatStore, 'valueOf'>): HostMinute | undefined {
    const { base } = this.definition;
    const sums = COUNTED.map((offset, at) => {
      const gain = store.valueOf(base + offset) - (this.#totals[at] as number);
      return (this.#sums[at] as number) + Math.max(0, gain);
    });
    const [requests = 0, errors = 0, connectFailures = 0, timed = 0, tookMs = 0] = sums;
    if (requests + errors + connectFailures + timed === 0) return undefined;
    const meanMs = timed > 0 ? tookMs / timed : undefined;
    return { ...this.place, requests, errors, connectFailures, meanMs };
  }
}
