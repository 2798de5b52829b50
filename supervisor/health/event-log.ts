/**
 * Files with one line of JSON per event about the health of hosts. A file is opened when its first
 * event comes; one that cannot be written loses its events and is named in the server's log.
 */
import { createWriteStream, openSync, type WriteStream } from 'node:fs';
import { appendFlags } from '../../shared/process/append-flags.ts';

/** A reader or disk that takes nothing loses events beyond this. */
const WAITING_BYTES_MAX = 1024 * 1024;

export class EventLogs {
  readonly #warn: (text: string) => void;
  readonly #files = new Map<string, WriteStream>();

  constructor(warn: (text: string) => void) {
    this.#warn = warn;
  }

  write(path: string, event: object): void {
    const file = this.#files.get(path) ?? this.#open(path);
    if (file === undefined) return;
    if (file.writableLength > WAITING_BYTES_MAX) return;
    file.write(`${JSON.stringify(event)}\n`);
  }

  /** Later events go to what is at the paths then. */
  reopen(): void {
    for (const file of this.#files.values()) file.end();
    this.#files.clear();
  }

  close(): void {
    this.reopen();
  }

  #open(path: string): WriteStream | undefined {
    const failed = (error: unknown): void =>
      this.#warn(`cannot write the event log ${path}: ${(error as Error).message}`);
    let fd: number;
    try {
      fd = openSync(path, appendFlags(path), 0o666);
    } catch (error) {
      failed(error);
      return undefined;
    }
    const file = createWriteStream(path, { fd });
    file.on('error', (error) => {
      failed(error);
      if (this.#files.get(path) === file) this.#files.delete(path);
    });
    this.#files.set(path, file);
    return file;
  }
}
