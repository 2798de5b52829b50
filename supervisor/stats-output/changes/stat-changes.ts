/**
 * `/stats?since=CURSOR`: what changed since an earlier answer, which gave the cursor. A cursor is a
 * snapshot of what was not zero; it holds for the filter that it was made with.
 */
import type { StatKind } from '../../../shared/stats/template.ts';
import { statsPerStep } from '../render/chunks.ts';
import { selector, type Selection } from '../../stats/selection.ts';
import { visitInSteps, type Segment } from '../../stats/ordered-view.ts';
import type { StatStore } from '../../stats/stat-store.ts';
import type { Steps } from '../../loop/loop-turns.ts';

/** Snapshots that are kept, and the values that all of them hold together. */
const CURSORS_MAX = 8;
const VALUES_MAX = 400_000;

/** The word for a first snapshot. */
export const SINCE_NOW = 'now';

interface SeenValue {
  /** The two parts of its name: another owner of the index has others. */
  readonly prefix: string;
  readonly suffix: string;
  readonly value: number;
  /** Of histograms. */
  readonly sum: number;
}

interface Snapshot {
  readonly cursor: string;
  /** The query that chose its statistics. */
  readonly choice: string;
  readonly atMs: number;
  readonly values: ReadonlyMap<number, SeenValue>;
}

export interface StatChange {
  readonly name: string;
  readonly kind: StatKind;
  /** Counters: by how much. Gauges: what it is now. Histograms: how many values came. */
  readonly printed: string;
  /** Of the histogram's values that came. */
  readonly sum: number;
}

export interface StatChanges {
  readonly cursor: string;
  /** How long ago the earlier snapshot was made; 0 for a first one. */
  readonly tookMs: number;
  readonly changes: readonly StatChange[];
}

/** A statistic now and before; undefined: it was nothing. */
interface Compared {
  readonly name: string;
  readonly seen: SeenValue | undefined;
  readonly known: SeenValue | undefined;
}

export interface ChangesQuestion {
  readonly since: string;
  readonly choice: string;
  readonly selection: Selection;
  readonly atMs: number;
}

export class StatCursors {
  readonly #store: StatStore;
  readonly #limits: { readonly cursors: number; readonly values: number };
  #snapshots: readonly Snapshot[] = [];
  #made = 0;

  constructor(store: StatStore, limits = { cursors: CURSORS_MAX, values: VALUES_MAX }) {
    this.#store = store;
    this.#limits = limits;
  }

  /** A text says why there is no answer. */
  *changes(
    { since, choice, selection, atMs }: ChangesQuestion,
    segments: readonly Segment[],
  ): Steps<StatChanges | string> {
    const earlier = this.#snapshots.find(({ cursor }) => cursor === since);
    if (earlier === undefined && since !== SINCE_NOW) {
      return `the cursor is not known (any more): begin with since=${SINCE_NOW}\n`;
    }
    if (earlier !== undefined && earlier.choice !== choice) {
      return 'the cursor was made with other parameters: they must be the same\n';
    }
    const values = new Map<number, SeenValue>();
    const changes: StatChange[] = [];
    const selects = selector(this.#store, selection);
    const visit = (index: number, prefix: string, suffix: string): void => {
      if (!selects(index, prefix, suffix)) return;
      const seen = this.#valueOf(index, prefix, suffix);
      if (seen !== undefined) values.set(index, seen);
      if (earlier === undefined) return;
      const before = earlier.values.get(index);
      const isSame = before?.prefix === prefix && before.suffix === suffix;
      const known = isSame ? before : undefined;
      const change = this.#change(index, { name: prefix + suffix, seen, known });
      if (change !== undefined) changes.push(change);
    };
    for (const segment of segments) {
      for (const group of ['scalars', 'histograms'] as const) {
        yield* visitInSteps(segment, group, visit, statsPerStep(selection));
        yield;
      }
      if (values.size > this.#limits.values) return TOO_MANY;
    }
    const cursor = `${atMs.toString(36)}.${++this.#made}`;
    this.#keep({ cursor, choice, atMs, values });
    return { cursor, tookMs: earlier === undefined ? 0 : atMs - earlier.atMs, changes };
  }

  /** Undefined: zero. */
  #valueOf(index: number, prefix: string, suffix: string): SeenValue | undefined {
    if (this.#store.kindOf(index) !== 'histogram') {
      const value = this.#store.valueOf(index);
      return value === 0 ? undefined : { prefix, suffix, value, sum: 0 };
    }
    const counts = this.#store.histogramOf(index)?.cumulative;
    if (counts === undefined || counts.total === 0) return undefined;
    return { prefix, suffix, value: counts.total, sum: counts.approximateSum() };
  }

  #change(index: number, { name, seen, known }: Compared): StatChange | undefined {
    const value = seen?.value ?? 0;
    if (value === (known?.value ?? 0)) return undefined;
    const kind = this.#store.kindOf(index);
    if (kind === 'gauge') return { name, kind, printed: this.#store.printedValue(index), sum: 0 };
    return { name, kind, ...risen(seen, known) };
  }

  /** The oldest ones make room. */
  #keep(snapshot: Snapshot): void {
    const kept = [snapshot];
    let values = snapshot.values.size;
    for (const earlier of this.#snapshots) {
      values += earlier.values.size;
      if (kept.length >= this.#limits.cursors || values > this.#limits.values) break;
      kept.push(earlier);
    }
    this.#snapshots = kept;
  }
}

/** What has a smaller value than before was reset meanwhile: everything it has came since then. */
function risen(
  seen: SeenValue = NOTHING,
  known: SeenValue = NOTHING,
): Pick<StatChange, 'printed' | 'sum'> {
  const base = known.value <= seen.value ? known : NOTHING;
  return { printed: String(seen.value - base.value), sum: seen.sum - base.sum };
}

const NOTHING: SeenValue = { prefix: '', suffix: '', value: 0, sum: 0 };
const TOO_MANY = `more than ${VALUES_MAX} statistics: a filter has to choose some\n`;
