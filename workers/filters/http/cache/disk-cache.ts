/**
 * Responses that are kept in a folder, one file each, which all workers and later servers share. A file
 * is made beside its place and moved there, so that nobody reads half of one; what does not fit its
 * own description is no response. The files used longest ago go first.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CacheStore } from '../../../../shared/resources/filters/http/matching/http-cache.ts';
import type { Endable } from '../../../../shared/process/exceptions.ts';
import type { WorkerLoop } from '../../../loop/worker-loop.ts';
import { readKept, writeKept } from './kept-file.ts';
import { CACHED_BODY_MAX, type KeptResponse } from './memory-cache.ts';

type DiskOptions = Extract<CacheStore, { readonly kind: 'disk' }>;

/** The reads of a worker at a time; a request beyond them finds nothing, a response is not kept. */
const READS_MAX = 64;
const WRITES_MAX = 16;
/** Headers and all. */
const FILE_BYTES_MAX = CACHED_BODY_MAX + 1024 * 1024;
/** The folder is looked at again after so much of its limits was written. */
const SWEEP_SHARE = 16;
const SWEEP_BYTES_MIN = 1024 * 1024;
/** A file's time of use is written down no more often. */
const TOUCH_MS = 60_000;
const WARN_EVERY_MS = 60_000;
const NAME = /^sluice-[0-9a-f]{64}$/;
/** The age of files that were never moved to their place, after which they are garbage. */
const UNFINISHED_MS = 600_000;

interface SeenFile {
  readonly path: string;
  readonly bytes: number;
  readonly usedMs: number;
}

export class DiskCache {
  readonly #options: DiskOptions;
  readonly #loop: WorkerLoop;
  readonly #warn: (text: string) => void;
  #reads = 0;
  /** Is served while it is on its way to the disk. */
  readonly #writing = new Map<string, KeptResponse>();
  #bytesSinceSweep = Infinity;
  #filesSinceSweep = 0;
  #isSweeping = false;
  #warnedMs = -Infinity;

  constructor(options: DiskOptions, loop: WorkerLoop, warn: (text: string) => void) {
    this.#options = options;
    this.#loop = loop;
    this.#warn = warn;
    if (options.makesFolder) {
      void mkdir(options.path, { recursive: true, mode: 0o700 }).catch((error: Error) =>
        this.#failed(error),
      );
    }
  }

  find(key: string, found: (response: KeptResponse | undefined) => void, owner: Endable): void {
    const writing = this.#writing.get(key);
    if (writing !== undefined) {
      found(writing);
      return;
    }
    if (this.#reads >= READS_MAX) {
      found(undefined);
      return;
    }
    this.#reads += 1;
    void this.#read(key).then((response) => {
      this.#reads -= 1;
      this.#loop.run(owner, () => found(response));
    });
  }

  keep(key: string, response: KeptResponse): void {
    if (this.#writing.size >= WRITES_MAX || this.#writing.has(key)) return;
    const bytes = writeKept(key, response);
    if (bytes.length > (this.#options.entryBytesMax ?? FILE_BYTES_MAX)) return;
    this.#writing.set(key, response);
    void this.#write(this.#place(key), bytes).then(() => {
      this.#writing.delete(key);
    });
  }

  /** A name that says nothing, whatever the key has in it. */
  #place(key: string): string {
    return join(this.#options.path, `sluice-${createHash('sha256').update(key).digest('hex')}`);
  }

  async #read(key: string): Promise<KeptResponse | undefined> {
    const place = this.#place(key);
    try {
      const file = await open(place, 'r');
      try {
        const { size, mtimeMs } = await file.stat();
        if (size > FILE_BYTES_MAX) return undefined;
        const bytes = Buffer.allocUnsafe(size);
        const { bytesRead } = await file.read(bytes, 0, size, 0);
        const now = this.#loop.clock.wallMs;
        if (now - mtimeMs > TOUCH_MS) await utimes(place, new Date(now), new Date(now));
        return readKept(key, bytes.subarray(0, bytesRead));
      } finally {
        await file.close();
      }
    } catch {
      return undefined;
    }
  }

  async #write(place: string, bytes: Buffer): Promise<void> {
    const beside = `${place}.${randomUUID()}`;
    try {
      await writeFile(beside, bytes, { flag: 'wx', mode: 0o600 });
      await rename(beside, place);
    } catch (error) {
      this.#failed(error as Error);
      await unlink(beside).catch(() => undefined);
      return;
    }
    this.#bytesSinceSweep += bytes.length;
    this.#filesSinceSweep += 1;
    await this.#sweep();
  }

  #failed({ message }: Error): void {
    const { ms } = this.#loop.clock;
    if (ms - this.#warnedMs < WARN_EVERY_MS) return;
    this.#warnedMs = ms;
    this.#warn(`cannot keep a response in ${this.#options.path}: ${message}`);
  }

  /** After each part of the limits that was written, so that all workers together stay near them. */
  async #sweep(): Promise<void> {
    const { bytesMax, filesMax } = this.#options;
    const isDue =
      this.#bytesSinceSweep > Math.max(SWEEP_BYTES_MIN, bytesMax / SWEEP_SHARE) ||
      this.#filesSinceSweep > filesMax / SWEEP_SHARE;
    if (this.#isSweeping || !isDue) return;
    this.#isSweeping = true;
    this.#bytesSinceSweep = this.#filesSinceSweep = 0;
    try {
      await this.#removeOldest(await this.#files());
    } catch (error) {
      this.#failed(error as Error);
    }
    this.#isSweeping = false;
  }

  /** Those of the cache; what was left unfinished goes. */
  async #files(): Promise<SeenFile[]> {
    const files: SeenFile[] = [];
    for (const name of await readdir(this.#options.path)) {
      if (!name.startsWith('sluice-')) continue;
      const path = join(this.#options.path, name);
      const seen = await stat(path).catch(() => undefined);
      if (seen === undefined || !seen.isFile()) continue;
      const usedMs = seen.mtimeMs;
      if (NAME.test(name)) files.push({ path, bytes: seen.size, usedMs });
      else if (this.#loop.clock.wallMs - usedMs > UNFINISHED_MS)
        await unlink(path).catch(() => undefined);
    }
    return files;
  }

  async #removeOldest(files: SeenFile[]): Promise<void> {
    const { bytesMax, filesMax, evictFraction } = this.#options;
    let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    let count = files.length;
    if (bytes <= bytesMax && count <= filesMax) return;
    const bytesGoal = bytesMax * (1 - evictFraction);
    const filesGoal = filesMax * (1 - evictFraction);
    for (const file of files.toSorted((one, other) => one.usedMs - other.usedMs)) {
      if (bytes <= bytesGoal && count <= filesGoal) return;
      bytes -= file.bytes;
      count -= 1;
      await unlink(file.path).catch(() => undefined);
    }
  }
}
