/**
 * Lists the open connections of this worker, part by part as they are asked for. A walk remembers
 * which connections it has still to tell of, not what it says of them: one that ends meanwhile is
 * left out.
 */
import type {
  ConnectionOrder,
  ConnectionPart,
  ConnectionQuestion,
  ConnectionRow,
} from '../../shared/connections/connections.ts';
import type { Clock, Timer } from '../../shared/process/clock.ts';
import type { OpenConnection, OpenConnections } from '../listener/open-connections.ts';
import { ITEMS_PER_STEP, runInSlices, sortInSteps, type Steps } from '../loop/sliced-work.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import { bytesOf, describeConnection, idleMsOf } from './describe-connection.ts';
import { compileFilter } from './match-connection.ts';

/** Rows of one part: about 100 KB. */
const PART_ROWS = 256;
/** Rows that are made in one step. */
const ROWS_PER_STEP = 16;
/** Connections that are looked at in one step. */
const LOOKED_PER_STEP = 32;
/** Walks at once; the one that was asked for longest ago ends for a further one. */
const WALKS_MAX = 8;
/** Without a question a walk ends. */
const WALK_IDLE_MS = 30_000;

/** A connection and where it was found. */
export interface FoundConnection {
  readonly listener: string;
  readonly place: OpenConnection;
}

export interface WalkedListener {
  readonly name: string;
  readonly connections: Pick<OpenConnections, 'all'>;
}

export interface WalkParts {
  readonly loop: Pick<WorkerLoop, 'slices' | 'clock'>;
  readonly clock: Clock;
  readonly workerIndex: number;
  readonly listeners: () => readonly WalkedListener[];
}

interface Walk {
  readonly found: readonly FoundConnection[];
  at: number;
  timer: Timer | undefined;
}

export class ConnectionWalks {
  readonly #parts: WalkParts;
  readonly #walks = new Map<number, Walk>();
  #lastWalk = 0;

  constructor(parts: WalkParts) {
    this.#parts = parts;
  }

  /** The first part. */
  async begin({ filter, order, limit }: ConnectionQuestion): Promise<ConnectionPart> {
    const found = await runInSlices(this.#parts.loop, this.#find(filter, order, limit));
    const walk = ++this.#lastWalk;
    const [oldest] = this.#walks.keys();
    if (this.#walks.size >= WALKS_MAX && oldest !== undefined) this.#end(oldest);
    this.#walks.set(walk, { found, at: 0, timer: undefined });
    return await this.next(walk);
  }

  /** Rejects for a walk that has ended. */
  async next(id: number): Promise<ConnectionPart> {
    const walk = this.#walks.get(id);
    if (walk === undefined) throw new Error('the list was not read for too long');
    walk.timer?.cancel();
    walk.timer = this.#parts.clock.after(WALK_IDLE_MS, () => this.#end(id), { unref: true });
    const rows = await runInSlices(this.#parts.loop, this.#rows(walk));
    const more = walk.at < walk.found.length;
    if (!more) this.#end(id);
    return { walk: id, rows, more };
  }

  /** The connections that a filter means. */
  *matches(filter: ConnectionQuestion['filter']): Steps<FoundConnection[]> {
    const { listeners, loop, workerIndex } = this.#parts;
    const isMeant = compileFilter(filter, workerIndex);
    const found: FoundConnection[] = [];
    let looked = 0;
    for (const { name: listener, connections } of listeners()) {
      for (const place of connections.all()) {
        if (++looked % LOOKED_PER_STEP === 0) yield;
        if (place.connection === undefined) continue;
        if (isMeant({ listener, place, nowMs: loop.clock.ms })) found.push({ listener, place });
      }
    }
    return found;
  }

  *#find(
    filter: ConnectionQuestion['filter'],
    order: ConnectionOrder | undefined,
    limit: number,
  ): Steps<readonly FoundConnection[]> {
    const found = yield* this.matches(filter);
    if (order === undefined) return found.length <= limit ? found : found.slice(0, limit);
    const keyed: { readonly key: number; readonly each: FoundConnection }[] = [];
    for (const each of found) {
      keyed.push({ key: sizeOf(each.place, order, this.#parts.loop.clock.ms), each });
      if (keyed.length % ITEMS_PER_STEP === 0) yield;
    }
    yield* sortInSteps(keyed, (left, right) => right.key - left.key);
    return keyed.slice(0, limit).map(({ each }) => each);
  }

  *#rows(walk: Walk): Steps<readonly ConnectionRow[]> {
    const rows: ConnectionRow[] = [];
    const { clock } = this.#parts.loop;
    while (walk.at < walk.found.length && rows.length < PART_ROWS) {
      const { listener, place } = walk.found[walk.at++] as FoundConnection;
      const row = describeConnection(listener, place, clock.ms);
      if (row !== undefined) rows.push(row);
      if (walk.at % ROWS_PER_STEP === 0) yield;
    }
    return rows;
  }

  #end(id: number): void {
    this.#walks.get(id)?.timer?.cancel();
    this.#walks.delete(id);
  }
}

function sizeOf(place: OpenConnection, order: ConnectionOrder, nowMs: number): number {
  switch (order) {
    case 'age':
      return nowMs - (place.connection?.openedMs ?? nowMs);
    case 'idle':
      return idleMsOf(place, nowMs) ?? -1;
    case 'bytes':
      return bytesOf(place);
    case 'streams':
      return place.connection?.openStreams ?? 0;
  }
}
