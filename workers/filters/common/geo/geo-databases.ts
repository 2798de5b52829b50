/**
 * The databases of this worker, each file read once for all filters that ask it, and again when
 * another one is moved into its place.
 */
import { type FSWatcher, readFileSync, statSync, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import {
  GEO_DATABASE_BYTES_MAX,
  MaxmindDatabase,
} from '../../../../shared/geo/maxmind-database.ts';
import {
  GEO_DATABASE,
  type GeoDatabaseKind,
} from '../../../../shared/resources/filters/common/geo.ts';
import type { StatWriter } from '../../../../shared/stats/stat-writer.ts';

export interface GeoContext {
  readonly stats: StatWriter;
  /** It counts what concerns the files. */
  readonly isFirstWorker: boolean;
}

export interface HeldDatabase {
  readonly current: MaxmindDatabase;
  release(): void;
}

const open = new Map<string, OpenDatabase>();

/** Throws when it cannot be read. */
export function holdDatabase(
  kind: GeoDatabaseKind,
  path: string,
  context: GeoContext,
): HeldDatabase {
  const key = `${kind} ${path}`;
  const database = open.get(key) ?? new OpenDatabase(kind, path, context);
  open.set(key, database);
  database.users += 1;
  return {
    get current() {
      return database.current;
    },
    release() {
      database.users -= 1;
      if (database.users > 0) return;
      open.delete(key);
      database.close();
    },
  };
}

class OpenDatabase {
  current: MaxmindDatabase;
  users = 0;
  readonly #path: string;
  readonly #context: GeoContext;
  readonly #base: number;
  readonly #watcher: FSWatcher | undefined;

  constructor(kind: GeoDatabaseKind, path: string, context: GeoContext) {
    this.#path = path;
    this.#context = context;
    checkFile(path);
    this.current = new MaxmindDatabase(readFileSync(path));
    this.#base = context.stats.defineBlock(GEO_DATABASE, `maxmind.${kind}_db.${path}.`);
    this.#watcher = watchFile(path, () => void this.#renew());
    this.#tellAge();
  }

  close(): void {
    this.#watcher?.close();
    this.#context.stats.releaseBlock(this.#base);
  }

  async #renew(): Promise<void> {
    const { db_reload_error: refused, db_reload_success: taken } = GEO_DATABASE.index;
    let count = refused;
    try {
      checkFile(this.#path);
      this.current = new MaxmindDatabase(await readFile(this.#path));
      count = taken;
    } catch {
      // What was there before is still good.
    }
    if (this.users === 0 || !this.#context.isFirstWorker) return;
    this.#context.stats.increment(this.#base + count);
    this.#tellAge();
  }

  #tellAge(): void {
    const { stats, isFirstWorker } = this.#context;
    if (!isFirstWorker) return;
    stats.setGauge(this.#base + GEO_DATABASE.index.db_build_epoch, this.current.builtAt);
  }
}

/** The supervisor has looked at it; it may have changed meanwhile. */
function checkFile(path: string): void {
  const facts = statSync(path);
  if (!facts.isFile() || facts.size > GEO_DATABASE_BYTES_MAX) {
    throw new Error(`'${path}' is no database`);
  }
}

/** Undefined where the system has no watches left: the first content stays. */
function watchFile(path: string, changed: () => void): FSWatcher | undefined {
  try {
    const name = basename(path);
    const watcher = watch(dirname(path), { persistent: false }, (event, file) => {
      if (event === 'rename' && file === name) changed();
    });
    return watcher.on('error', () => undefined);
  } catch {
    return undefined;
  }
}
