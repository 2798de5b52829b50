/**
 * One file per recorded request, written beside the loop. What waits to be written is limited:
 * beyond it records are dropped, and the log says so once.
 */
import { open, type FileHandle } from 'node:fs/promises';
import type { TapFormat } from '../../shared/resources/tap.ts';
import type { TapSink, TraceOutput } from './tap-sink.ts';

/** Bytes of all taps of this worker that are not written yet. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;
/** Files of this worker that are being written. */
const OPEN_FILES_MAX = 256;

const ENDINGS: Readonly<Record<TapFormat, string>> = {
  JSON_BODY_AS_BYTES: '.json',
  JSON_BODY_AS_STRING: '.json',
  PROTO_BINARY: '.pb',
  PROTO_BINARY_LENGTH_DELIMITED: '.pb_length_delimited',
  PROTO_TEXT: '.pb_text',
};

export class TapFiles {
  readonly #log: (text: string) => void;
  #waitingBytes = 0;
  #openFiles = 0;
  #hasComplained = false;

  /** `log` is told of the first file that cannot be written. */
  constructor(log: (text: string) => void) {
    this.#log = log;
  }

  sink(pathPrefix: string): TapSink {
    return {
      open: (traceId, format) => this.#open(`${pathPrefix}_${traceId}${ENDINGS[format]}`),
    };
  }

  #open(path: string): TraceOutput {
    if (this.#openFiles >= OPEN_FILES_MAX) {
      this.#complain(`cannot write ${path}: too many files are being written`);
      return { write: () => undefined, end: () => undefined };
    }
    this.#openFiles += 1;
    const opened = open(path, 'w');
    let last: Promise<unknown> = opened;
    return {
      write: (bytes) => {
        if (this.#waitingBytes + bytes.length > WAITING_BYTES_MAX) {
          return this.#complain(`cannot write ${path}: the disk does not keep up`);
        }
        this.#waitingBytes += bytes.length;
        last = last.then(async () => await this.#append(opened, bytes, path));
      },
      end: () => void this.#close(opened, last, path),
    };
  }

  async #append(opened: Promise<FileHandle>, bytes: Buffer, path: string): Promise<void> {
    try {
      await (await opened).writeFile(bytes);
    } catch (error) {
      this.#complain(`cannot write ${path}: ${(error as Error).message}`);
    } finally {
      this.#waitingBytes -= bytes.length;
    }
  }

  async #close(opened: Promise<FileHandle>, last: Promise<unknown>, path: string): Promise<void> {
    try {
      await last;
      await (await opened).close();
    } catch (error) {
      this.#complain(`cannot write ${path}: ${(error as Error).message}`);
    } finally {
      this.#openFiles -= 1;
    }
  }

  #complain(text: string): void {
    if (this.#hasComplained) return;
    this.#hasComplained = true;
    this.#log(text);
  }
}
