/**
 * The order of all statistics by name, kept without keeping names. It owns no values.
 *
 * Sorted prefixes make runs that cannot interleave: everything below `cluster.web.` stands together.
 * Such a run is a segment: its blocks (the outer one and those nested in it) and the named
 * statistics below the same prefix. The order within a segment is a shape, which ten thousand
 * clusters with the same blocks share. Statistics below no block make segments without blocks.
 */
import { setImmediate } from 'node:timers/promises';
import type { StatKind } from '../../shared/stats/template.ts';
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
/** Definitions looked at between two yields to the event loop. */
const YIELD_AFTER = 4096;

export class OrderedView {
  readonly #store: StatStore;
  /** Those that segments have now: a shape may say the name of a listener's connection manager. */
  #shapes = new Map<string, Shape>();
  #segments: readonly Segment[] = [];
  #generation = -1;

  constructor(store: StatStore) {
    this.#store = store;
  }

  /** The segments in order. They stay valid: statistics removed meanwhile are not `live`. */
  async segments(): Promise<readonly Segment[]> {
    if (this.#generation === this.#store.generation) return this.#segments;
    const generation = this.#store.generation;
    const sorted = await sortedDefinitions(this.#store.definitions());
    const segments: Segment[] = [];
    const shapes = new Map<string, Shape>();
    for (let position = 0; position < sorted.length;) {
      const end = endOfRun(sorted, position);
      segments.push(this.#segment(sorted.slice(position, end), shapes));
      position = end;
      if (segments.length % YIELD_AFTER === 0) await setImmediate();
    }
    this.#segments = segments;
    this.#shapes = shapes;
    this.#generation = generation;
    return segments;
  }

  #segment(members: readonly Definition[], shapes: Map<string, Shape>): Segment {
    const first = members[0] as Definition;
    const prefix = first.template === undefined ? '' : first.name;
    const blocks = members.filter((definition) => definition.template !== undefined);
    const named = members.filter((definition) => definition.template === undefined);
    return {
      prefix,
      blocks,
      shape: blocks.length === 0 ? NO_SHAPE : this.#shape(prefix, blocks, shapes),
      named: named.length === 0 ? NO_NAMED : this.#groupNamed(prefix, named),
    };
  }

  #shape(prefix: string, blocks: readonly Definition[], shapes: Map<string, Shape>): Shape {
    const key = blocks
      .map((block) => `${block.template?.id ?? ''} ${block.name.slice(prefix.length)}`)
      .join('|');
    const shape = shapes.get(key) ?? this.#shapes.get(key) ?? makeShape(prefix, blocks);
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
  const { blocks, offsets, suffixes } = segment.shape[group];
  const named = segment.named[group];
  let next = 0;
  for (let position = 0; position < suffixes.length; position++) {
    const suffix = suffixes[position] as string;
    while (next < named.length && (named[next] as NamedStat).suffix < suffix) {
      visitNamed(segment, named[next] as NamedStat, visit);
      next++;
    }
    const block = segment.blocks[blocks[position] as number] as Definition;
    if (block.live) visit(block.base + (offsets[position] as number), segment.prefix, suffix);
  }
  for (; next < named.length; next++) visitNamed(segment, named[next] as NamedStat, visit);
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

async function sortedDefinitions(all: Iterable<Definition>): Promise<Definition[]> {
  const runs: Definition[][] = [];
  let run: Definition[] = [];
  for (const definition of all) {
    if (definition.template?.internal === true) continue;
    run.push(definition);
    if (run.length < YIELD_AFTER) continue;
    runs.push(run.sort(byName));
    run = [];
    await setImmediate();
  }
  runs.push(run.sort(byName));
  while (runs.length > 1) {
    for (let position = 0; position + 1 < runs.length; position++) {
      const merged = await mergedRuns(
        runs[position] as Definition[],
        runs[position + 1] as Definition[],
      );
      runs.splice(position, 2, merged);
    }
  }
  return runs[0] as Definition[];
}

async function mergedRuns(left: Definition[], right: Definition[]): Promise<Definition[]> {
  const merged: Definition[] = [];
  let fromLeft = 0;
  let fromRight = 0;
  while (fromLeft < left.length && fromRight < right.length) {
    const a = left[fromLeft] as Definition;
    const b = right[fromRight] as Definition;
    if (byName(a, b) <= 0) {
      merged.push(a);
      fromLeft++;
    } else {
      merged.push(b);
      fromRight++;
    }
    if (merged.length % (4 * YIELD_AFTER) === 0) await setImmediate();
  }
  while (fromLeft < left.length) merged.push(left[fromLeft++] as Definition);
  while (fromRight < right.length) merged.push(right[fromRight++] as Definition);
  return merged;
}

/** By name; a block before a named statistic, blocks with one prefix by template. */
function byName(a: Definition, b: Definition): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  const templateOfA = a.template?.id ?? '';
  const templateOfB = b.template?.id ?? '';
  return templateOfA < templateOfB ? 1 : -1;
}

function endOfRun(sorted: readonly Definition[], start: number): number {
  const first = sorted[start] as Definition;
  let end = start + 1;
  if (first.template === undefined) return end;
  while (end < sorted.length && (sorted[end] as Definition).name.startsWith(first.name)) end++;
  return end;
}

function makeShape(prefix: string, blocks: readonly Definition[]): Shape {
  const entries = blocks.flatMap((block, position) =>
    (block.template?.stats ?? []).map((spec, offset) => ({
      position,
      offset,
      suffix: block.name.slice(prefix.length) + spec.name,
      group: groupOf(spec.kind),
    })),
  );
  entries.sort((a, b) => (a.suffix < b.suffix ? -1 : 1));
  const order = (group: StatGroup): ShapeOrder => {
    const members = entries.filter((entry) => entry.group === group);
    if (members.length === 0) return NO_ORDER;
    return {
      blocks: members.map((entry) => entry.position),
      offsets: members.map((entry) => entry.offset),
      suffixes: members.map((entry) => entry.suffix),
    };
  };
  return { texts: order('texts'), scalars: order('scalars'), histograms: order('histograms') };
}
