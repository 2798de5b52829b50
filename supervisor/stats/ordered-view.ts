/**
 * The order of all statistics by name, kept without keeping names. It owns no values.
 *
 * Sorted prefixes make runs that cannot interleave: everything below `cluster.web.` stands
 * together. Such a run is a segment: its blocks (the outer one and those nested in it) and the
 * named statistics below the same prefix. The order within a segment is a shape, which ten thousand
 * clusters with the same blocks share. Statistics below no block make segments without blocks.
 */
import type { StatKind } from '../../shared/stats/template.ts';
import { LoopTurns, sortedInSteps, type Steps } from '../loop/loop-turns.ts';
import { SharedSteps } from '../loop/shared-steps.ts';
import type { Definition, StatStore } from './stat-store.ts';

/** The three groups in which the pages list statistics. */
export type StatGroup = 'texts' | 'scalars' | 'histograms';

/** Statistics of a segment's blocks in the order of their names; three parallel lists. */
interface ShapeOrder {
  /** Position in the segment's `blocks`. */
  readonly blocks: readonly number[];
  /** Offset within the block. */
  readonly offsets: readonly number[];
  /** What follows the segment's prefix in the name. */
  readonly suffixes: readonly string[];
}

export type Shape = Readonly<Record<StatGroup, ShapeOrder>>;

interface NamedStat {
  readonly definition: Definition;
  readonly suffix: string;
}

export interface Segment {
  readonly prefix: string;
  readonly blocks: readonly Definition[];
  readonly shape: Shape;
  readonly named: Readonly<Record<StatGroup, readonly NamedStat[]>>;
}

/** Called for each statistic; the whole name is `prefix + suffix`. */
export type Visit = (index: number, prefix: string, suffix: string) => void;

const NO_ORDER: ShapeOrder = { blocks: [], offsets: [], suffixes: [] };
const NO_SHAPE: Shape = { texts: NO_ORDER, scalars: NO_ORDER, histograms: NO_ORDER };
const NO_NAMED: Segment['named'] = { texts: [], scalars: [], histograms: [] };
/** Statistics that are ordered in one step. */
const ORDERED_PER_STEP = 512;

/** Segments that are being made. */
interface Making {
  readonly generation: number;
  readonly segments: SharedSteps<readonly Segment[]>;
}

export class OrderedView {
  readonly #store: StatStore;
  readonly #turns: LoopTurns;
  /** Those that segments have now: a shape may say the name of a listener's connection manager. */
  #shapes = new Map<string, Shape>();
  #segments: readonly Segment[] = [];
  #generation = -1;
  #making: Making | undefined;

  constructor(store: StatStore, turns = new LoopTurns()) {
    this.#store = store;
    this.#turns = turns;
  }

  /** The segments in order. They stay valid: statistics removed meanwhile are not `live`. */
  async segments(): Promise<readonly Segment[]> {
    return await this.#turns.run(this.inSteps());
  }

  /** The same, made in the turns of those who wait for it: without any it stands still. */
  *inSteps(): Steps<readonly Segment[], ''> {
    const { generation } = this.#store;
    if (this.#generation === generation) return this.#segments;
    const known = this.#making;
    const isKnown = known?.generation === generation && !known.segments.hasFailed;
    const making = isKnown
      ? known
      : { generation, segments: new SharedSteps(this.#make(generation)) };
    this.#making = making;
    const segments = yield* making.segments.result();
    if (this.#making === making) this.#making = undefined;
    return segments;
  }

  *#make(generation: number): Steps<readonly Segment[]> {
    const sorted = yield* sortedInSteps(this.#shown(), byName);
    const segments: Segment[] = [];
    const shapes = new Map<string, Shape>();
    for (let position = 0; position < sorted.length;) {
      const end = yield* endOfRun(sorted, position);
      segments.push(yield* this.#segment(sorted.slice(position, end), shapes));
      position = end;
      yield;
    }
    this.#segments = segments;
    this.#shapes = shapes;
    this.#generation = generation;
    return segments;
  }

  /** All at once: definitions that come and go meanwhile must not be seen half. */
  #shown(): readonly Definition[] {
    const shown: Definition[] = [];
    for (const definition of this.#store.definitions()) {
      if (definition.template?.internal !== true) shown.push(definition);
    }
    return shown;
  }

  *#segment(members: readonly Definition[], shapes: Map<string, Shape>): Steps<Segment> {
    const first = members[0] as Definition;
    const prefix = first.template === undefined ? '' : first.name;
    const blocks = members.filter((definition) => definition.template !== undefined);
    const named = members.filter((definition) => definition.template === undefined);
    return {
      prefix,
      blocks,
      shape: blocks.length === 0 ? NO_SHAPE : yield* this.#shape(prefix, blocks, shapes),
      named: named.length === 0 ? NO_NAMED : this.#groupNamed(prefix, named),
    };
  }

  *#shape(prefix: string, blocks: readonly Definition[], shapes: Map<string, Shape>): Steps<Shape> {
    const key = blocks
      .map((block) => `${block.template?.id ?? ''} ${block.name.slice(prefix.length)}`)
      .join('|');
    const shape = shapes.get(key) ?? this.#shapes.get(key) ?? (yield* makeShape(prefix, blocks));
    shapes.set(key, shape);
    return shape;
  }

  #groupNamed(prefix: string, named: readonly Definition[]): Segment['named'] {
    const groups = {
      texts: [] as NamedStat[],
      scalars: [] as NamedStat[],
      histograms: [] as NamedStat[],
    };
    for (const definition of named) {
      const group = groupOf(this.#store.kindOf(definition.base));
      groups[group].push({ definition, suffix: definition.name.slice(prefix.length) });
    }
    return groups;
  }
}

/** Visits the statistics of one group of a segment in the order of their names. */
export function visitSegment(segment: Segment, group: StatGroup, visit: Visit): void {
  const steps = visitInSteps(segment, group, visit, Number.POSITIVE_INFINITY);
  while (steps.next().done !== true);
}

/** The same in steps of so many statistics. */
export function* visitInSteps(
  segment: Segment,
  group: StatGroup,
  visit: Visit,
  perStep: number,
): Generator<undefined, void, undefined> {
  const { blocks, offsets, suffixes } = segment.shape[group];
  const named = segment.named[group];
  const { prefix } = segment;
  let next = 0;
  let left = perStep;
  for (let position = 0; position < suffixes.length; position++) {
    const suffix = suffixes[position] as string;
    while (next < named.length && (named[next] as NamedStat).suffix < suffix) {
      visitNamed(segment, named[next] as NamedStat, visit);
      next++;
      left--;
    }
    const block = segment.blocks[blocks[position] as number] as Definition;
    if (block.live) visit(block.base + (offsets[position] as number), prefix, suffix);
    if (--left > 0) continue;
    left = perStep;
    yield;
  }
  for (; next < named.length; next++) {
    visitNamed(segment, named[next] as NamedStat, visit);
    if (--left > 0) continue;
    left = perStep;
    yield;
  }
}

function visitNamed(segment: Segment, named: NamedStat, visit: Visit): void {
  if (named.definition.live) visit(named.definition.base, segment.prefix, named.suffix);
}

export function groupOf(kind: StatKind): StatGroup {
  switch (kind) {
    case 'counter':
    case 'gauge':
      return 'scalars';
    case 'histogram':
      return 'histograms';
    case 'text_readout':
      return 'texts';
  }
}

/** By name; a block before a named statistic, blocks with one prefix by template. */
function byName(a: Definition, b: Definition): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  const templateOfA = a.template?.id ?? '';
  const templateOfB = b.template?.id ?? '';
  return templateOfA < templateOfB ? 1 : -1;
}

function* endOfRun(sorted: readonly Definition[], start: number): Steps<number> {
  const first = sorted[start] as Definition;
  let end = start + 1;
  if (first.template === undefined) return end;
  while (end < sorted.length && (sorted[end] as Definition).name.startsWith(first.name)) {
    end++;
    if ((end - start) % ORDERED_PER_STEP === 0) yield;
  }
  return end;
}

interface ShapeEntry {
  readonly position: number;
  readonly offset: number;
  readonly suffix: string;
}

function* makeShape(prefix: string, blocks: readonly Definition[]): Steps<Shape> {
  const entries: Record<StatGroup, ShapeEntry[]> = { texts: [], scalars: [], histograms: [] };
  for (const [position, block] of blocks.entries()) {
    const before = block.name.slice(prefix.length);
    block.template?.stats.forEach((spec, offset) => {
      entries[groupOf(spec.kind)].push({ position, offset, suffix: before + spec.name });
    });
    yield;
  }
  return {
    texts: yield* makeOrder(entries.texts),
    scalars: yield* makeOrder(entries.scalars),
    histograms: yield* makeOrder(entries.histograms),
  };
}

function* makeOrder(entries: readonly ShapeEntry[]): Steps<ShapeOrder> {
  if (entries.length === 0) return NO_ORDER;
  const sorted = yield* sortedInSteps(entries, (a, b) => (a.suffix < b.suffix ? -1 : 1));
  return {
    blocks: sorted.map(({ position }) => position),
    offsets: sorted.map(({ offset }) => offset),
    suffixes: sorted.map(({ suffix }) => suffix),
  };
}
