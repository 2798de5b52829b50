/**
 * The last resources that were accepted from control planes, kept in a file for a server that
 * starts while nobody answers: a new epoch, or this one after a crash. Off unless a path is given.
 * The file holds secrets too and is for its owner alone. One line of JSON per subscription; a line
 * that cannot be read is left out, for the control plane is asked in any case.
 */
import { open, readFile, rename, rm } from 'node:fs/promises';
import type { Clock, Timer } from '../../../shared/process/clock.ts';
import type { DiscoveredResource, DiscoveryUpdate } from './discovery-update.ts';

export interface KeptResourcesOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly log: (level: 'info' | 'warning', text: string) => void;
}

/** What one subscription had: the version of its last answer and its resources by name. */
interface Kept {
  versionInfo: string;
  readonly resources: Map<string, DiscoveredResource>;
}

/** Changes of this time are written together. */
const WRITE_DELAY_MS = 500;
/** Lines between which the loop goes on. */
const SLICE = 64;
const OWNER_ONLY = 0o600;

export class KeptResources {
  readonly #options: KeptResourcesOptions;
  /** The file's resources, for subscriptions that get no answer. */
  readonly #earlier = new Map<string, DiscoveryUpdate>();
  readonly #present = new Map<string, Kept>();
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: KeptResourcesOptions) {
    this.#options = options;
  }

  /** Reads what an earlier server left; a missing file is none. */
  async load(): Promise<void> {
    const { path, log } = this.#options;
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') log('warning', `cannot read ${path}: ${error.message}`);
      return '';
    });
    for (const line of text.split('\n')) {
      const entry = line === '' ? undefined : parseLine(line);
      if (entry !== undefined) this.#earlier.set(entry.key, entry.update);
    }
  }

  /** What this subscription had at last; once. */
  take(key: string): DiscoveryUpdate | undefined {
    const update = this.#earlier.get(key);
    this.#earlier.delete(key);
    return update;
  }

  /** An update was accepted. */
  keep(key: string, { versionInfo, resources, removed }: DiscoveryUpdate): void {
    if (this.#isClosed) return;
    this.#earlier.delete(key);
    const known = this.#present.get(key);
    const kept: Kept =
      known === undefined || removed === 'rest' ? { versionInfo, resources: new Map() } : known;
    kept.versionInfo = versionInfo;
    for (const name of removed === 'rest' ? [] : removed) kept.resources.delete(name);
    for (const resource of resources) kept.resources.set(resource.name, resource);
    this.#present.set(key, kept);
    this.#plan();
  }

  /** Nobody subscribes to it any more. */
  forget(key: string): void {
    if (this.#isClosed || !this.#present.delete(key)) return;
    this.#plan();
  }

  /** What is there stays in the file. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  #plan(): void {
    this.#timer ??= this.#options.clock.after(WRITE_DELAY_MS, () => {
      this.#timer = undefined;
      this.#writing = this.#writing.then(() => this.#write());
    });
  }

  async #write(): Promise<void> {
    const { path, log } = this.#options;
    const temporary = `${path}.${process.pid}`;
    try {
      const file = await open(temporary, 'w', OWNER_ONLY);
      try {
        let lines: string[] = [];
        for (const [key, kept] of this.#present) {
          lines.push(formatLine(key, kept));
          if (lines.length < SLICE) continue;
          await file.write(lines.join(''));
          lines = [];
        }
        // What nobody asked for yet, or got an answer to, is wanted the next time.
        for (const [key, { versionInfo, resources }] of this.#earlier) {
          const named = resources.map((resource) => [resource.name, resource] as const);
          lines.push(formatLine(key, { versionInfo, resources: new Map(named) }));
        }
        await file.write(lines.join(''));
      } finally {
        await file.close();
      }
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      log('warning', `cannot write ${path}: ${(error as Error).message}`);
    }
  }
}

function formatLine(key: string, { versionInfo, resources }: Kept): string {
  return `${JSON.stringify({ key, versionInfo, resources: [...resources.values()] })}\n`;
}

function parseLine(
  line: string,
): { readonly key: string; readonly update: DiscoveryUpdate } | undefined {
  try {
    const { key, versionInfo, resources } = JSON.parse(line) as {
      readonly key: string;
      readonly versionInfo: string;
      readonly resources: readonly DiscoveredResource[];
    };
    if (typeof key !== 'string' || !Array.isArray(resources)) return undefined;
    return { key, update: { versionInfo, resources, removed: [] } };
  } catch {
    return undefined;
  }
}
