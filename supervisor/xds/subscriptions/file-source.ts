/**
 * Resources from a file that is read again whenever another one is moved into its place, or
 * whenever anything is moved within a directory that is named for it. A file that is written in
 * place is not read: it would be seen half-written. One that appears where none was may still be
 * written: it is read when it has not changed for a while.
 */
import { lstatSync, watch, type FSWatcher } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { readConfiguredFile } from '../../config/configured-file.ts';
import { sourceFormat } from '../../config/source/source-format.ts';
import type { Clock, Timer } from '../../../shared/process/clock.ts';
import { decodeResponse, ResponseError, type DecodeEnvironment } from './decode-response.ts';
import type { DiscoverySource, DiscoveryUpdate } from './discovery-update.ts';
import type { Subscription } from './subscription.ts';

export interface FileSourceOptions {
  readonly path: string;
  readonly watchedDirectory: string | undefined;
  readonly subscription: Subscription;
  readonly decoding: DecodeEnvironment;
  readonly clock: Clock;
}

/** A file larger than this is refused. */
const LIMIT_BYTES = 1024 * 1024 * 1024;
/** A file that appeared is complete when nobody wrote to it for so long. */
const REST_MS = 50;

export class FileSource implements DiscoverySource {
  readonly #options: FileSourceOptions;
  #watcher: FSWatcher | undefined;
  /** What tells this file from the one that was read last. */
  #identity = '';
  /**
   * The file that is waited for where none was, empty before it appears; undefined: there was one
   * all the time.
   */
  #awaited: string | undefined;
  #isChecking = false;
  #isCheckWanted = false;
  #isClosed = false;
  #rest: Timer | undefined;

  constructor(options: FileSourceOptions) {
    this.#options = options;
  }

  start(): void {
    this.#watch();
    void this.#check(true);
  }

  close(): void {
    this.#isClosed = true;
    this.#watcher?.close();
    this.#rest?.cancel();
  }

  #watch(): void {
    const { path, watchedDirectory, subscription } = this.#options;
    const directory = watchedDirectory ?? dirname(path);
    const name = watchedDirectory === undefined ? basename(path) : undefined;
    try {
      this.#watcher = watch(directory, { persistent: false }, (event, changed) => {
        if (event !== 'rename') return;
        if (name === undefined || changed === name) void this.#check(false);
      });
      this.#watcher.on('error', (error) => subscription.failed(`cannot watch: ${error.message}`));
    } catch (error) {
      subscription.failed(`cannot watch ${directory}: ${(error as Error).message}`);
    }
  }

  /** One look at a time; what happens meanwhile is looked at after it. */
  async #check(isFirst: boolean): Promise<void> {
    this.#isCheckWanted = true;
    if (this.#isChecking) return;
    this.#isChecking = true;
    let isNew = isFirst;
    while (this.#takeWish()) {
      await this.#look(isNew);
      isNew = false;
    }
    this.#isChecking = false;
  }

  #takeWish(): boolean {
    const isWanted = this.#isCheckWanted && !this.#isClosed;
    this.#isCheckWanted = false;
    return isWanted;
  }

  async #look(isFirst: boolean): Promise<void> {
    const { path, subscription } = this.#options;
    const identity = await identityOf(path);
    if (this.#isClosed) return;
    if (identity === undefined) {
      this.#awaited = '';
      // Moved away or deleted: the last good configuration stays.
      if (!isFirst && !this.#isDangling()) return;
    } else {
      if (identity === this.#identity || this.#isFresh(identity)) return;
      this.#awaited = undefined;
    }
    this.#identity = identity ?? '';
    subscription.attempted();
    await subscription.deliver(() => this.#read(), { isFile: true });
  }

  /** What was moved into the watched directory leads nowhere: that is a failure, once. */
  #isDangling(): boolean {
    const { path, watchedDirectory } = this.#options;
    if (watchedDirectory === undefined || this.#identity === '') return false;
    const inside = relative(watchedDirectory, path);
    const [entry = ''] = inside.split(sep);
    if (entry === '' || entry === '..') return false;
    return lstatSync(join(watchedDirectory, entry), { throwIfNoEntry: false }) !== undefined;
  }

  /**
   * A file that appeared where none was, and that is another one than at the look before: it is
   * looked at again.
   */
  #isFresh(identity: string): boolean {
    if (this.#awaited === undefined || this.#awaited === identity) return false;
    this.#awaited = identity;
    this.#rest?.cancel();
    this.#rest = this.#options.clock.after(REST_MS, () => void this.#check(false));
    return true;
  }

  async #read(): Promise<DiscoveryUpdate> {
    const { path, subscription, decoding } = this.#options;
    let content: Buffer;
    try {
      content = await readConfiguredFile(path, LIMIT_BYTES);
    } catch (cause) {
      const reason = `cannot read ${path}: ${(cause as Error).message}`;
      throw new ResponseError('unreadable', reason, { cause });
    }
    return decodeResponse(
      { name: path, format: sourceFormat(path), content },
      subscription.type,
      decoding,
    );
  }
}

async function identityOf(path: string): Promise<string | undefined> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    // A file that was moved away and back is read again, as in Envoy: moves change `ctime`.
    return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    // Not there, or not to be read: reading it says why.
    return undefined;
  }
}
