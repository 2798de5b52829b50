/**
 * The connections of all workers as one list: worker after worker, or in one order where each
 * worker's own list is in that order. Holds one part of each worker's list at a time.
 */
import type {
  ConnectionOrder,
  ConnectionRow,
  WorkerConnections,
} from '../../../../shared/connections/connections.ts';

export interface NamedRow {
  readonly worker: number;
  readonly row: ConnectionRow;
}

export interface Outcome {
  /** There are more than were asked for. */
  readonly isCut: boolean;
  /** Workers that did not answer, or not to the end. */
  readonly missing: readonly number[];
}

export async function* mergeConnections(
  readers: readonly WorkerConnections[],
  order: ConnectionOrder | undefined,
  limit: number,
): AsyncGenerator<NamedRow, Outcome, undefined> {
  const sources = readers.map((reader) => new Source(reader));
  // A sorted list needs the first row of each; otherwise they are asked one after the other.
  if (order !== undefined) await Promise.all(sources.map(async (each) => each.fill()));
  let count = 0;
  for (;;) {
    const source = order === undefined ? await firstOf(sources) : largestOf(sources, order);
    if (source?.first === undefined || count >= limit) break;
    yield { worker: source.worker, row: source.first };
    count += 1;
    await source.advance();
  }
  return {
    isCut: sources.some(({ first }) => first !== undefined),
    missing: sources.filter(({ isMissing }) => isMissing).map(({ worker }) => worker),
  };
}

class Source {
  readonly worker: number;
  isMissing = false;
  readonly #reader: WorkerConnections;
  #rows: readonly ConnectionRow[] = [];
  #at = 0;
  #more = true;

  constructor(reader: WorkerConnections) {
    this.worker = reader.worker;
    this.#reader = reader;
  }

  get first(): ConnectionRow | undefined {
    return this.#rows[this.#at];
  }

  async advance(): Promise<void> {
    this.#at += 1;
    await this.fill();
  }

  /** A part may be empty although there are more: its connections have ended. */
  async fill(): Promise<void> {
    while (this.first === undefined && this.#more) {
      try {
        const part = await this.#reader.next();
        this.#rows = part.rows;
        this.#more = part.more;
      } catch {
        this.isMissing = true;
        this.#rows = [];
        this.#more = false;
      }
      this.#at = 0;
    }
  }
}

async function firstOf(sources: readonly Source[]): Promise<Source | undefined> {
  for (const source of sources) {
    await source.fill();
    if (source.first !== undefined) return source;
  }
  return undefined;
}

function largestOf(sources: readonly Source[], order: ConnectionOrder): Source | undefined {
  let largest: Source | undefined;
  let size = Number.NEGATIVE_INFINITY;
  for (const source of sources) {
    if (source.first === undefined) continue;
    const own = sizeOf(source.first, order);
    if (largest !== undefined && own <= size) continue;
    largest = source;
    size = own;
  }
  return largest;
}

function sizeOf(row: ConnectionRow, order: ConnectionOrder): number {
  switch (order) {
    case 'age':
      return row.ageMs;
    case 'idle':
      return row.idleMs ?? -1;
    case 'bytes':
      return row.bytesReceived + row.bytesSent;
    case 'streams':
      return row.streams;
  }
}
