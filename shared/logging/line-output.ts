/**
 * Writes whole lines to standard error or to a log file, one write per line, so that the lines of
 * several processes never mix. An output that cannot be written (a closed pipe, a full disk) costs
 * lines, which are counted, never the process.
 *
 * Until pino is attached the lines go straight to the descriptor: loading it takes a tenth of a
 * start, and nothing may be lost before.
 */
import { closeSync, openSync, writeSync } from 'node:fs';

import type { DestinationStream, Logger as PinoLogger, pino as pinoFunction } from 'pino';

import type { LineLevel } from './levels.ts';

/** pino, once it is loaded. */
export type Pino = typeof pinoFunction;
type PinoDestination = ReturnType<Pino['destination']>;

const stderrFd = 2;

/** Characters that may wait for an output that takes nothing at present; lines beyond are lost. */
const maxWaiting = 1024 * 1024;

/** pino's numbers for the levels of this log. */
const pinoLevels: Readonly<Record<LineLevel, number>> = {
  trace: 10,
  debug: 20,
  info: 30,
  warning: 40,
  error: 50,
  critical: 60,
};

/** The log file that was asked for cannot be opened; `cause` is the system's error. */
export class LogFileError extends Error {
  readonly code = 'log_file_error';
  constructor(path: string, cause: unknown) {
    super(`cannot open log file '${path}': ${cause instanceof Error ? cause.message : ''}`, {
      cause,
    });
  }
}

export class LineOutput {
  readonly #path: string;
  #fd: number;
  /** The end of a line of which only the beginning could be written. */
  #rest: Buffer | undefined;
  #pino: Pino | undefined;
  #logger: PinoLogger<LineLevel> | undefined;
  #destination: PinoDestination | undefined;
  #line = '';
  #isBroken = false;
  #droppedLines = 0;

  /**
   * @param path empty for standard error
   * @throws LogFileError
   */
  constructor(path: string) {
    this.#path = path;
    this.#fd = openLog(path);
  }

  get path(): string {
    return this.#path;
  }

  /** Lines that could not be written since the process began to write here. */
  get droppedLines(): number {
    return this.#droppedLines;
  }

  write(level: LineLevel, line: string): void {
    if (this.#logger === undefined) {
      this.#writeDirectly(line);
      return;
    }
    if (this.#isBroken) {
      this.#droppedLines++;
      return;
    }
    this.#line = line;
    this.#logger[level]('');
  }

  /** From now on pino writes. */
  attachPino(pino: Pino): void {
    if (this.#pino !== undefined) return;
    this.#pino = pino;
    this.#destination = this.#makeDestination(pino, this.#fd);
    this.#logger = this.#makeLogger(pino);
  }

  /**
   * Opens the file again under its name, for log rotation; lines go to the old file until then.
   * @throws LogFileError, and then goes on with the old file
   */
  reopen(): void {
    if (this.#path === '') return;
    const fd = openLog(this.#path);
    const oldFd = this.#fd;
    const oldDestination = this.#destination;
    this.#fd = fd;
    this.#rest = undefined;
    this.#isBroken = false;
    if (this.#pino === undefined || oldDestination === undefined) {
      closeSync(oldFd);
      return;
    }
    this.#destination = this.#makeDestination(this.#pino, fd);
    oldDestination.end();
  }

  /** Ends the use of a log file, after everything that waits is written. */
  close(): void {
    if (this.#destination !== undefined) this.#destination.end();
    else if (this.#fd !== stderrFd) closeSync(this.#fd);
  }

  #makeDestination(pino: Pino, fd: number): PinoDestination {
    const destination = pino.destination({
      dest: fd,
      sync: true,
      maxLength: maxWaiting,
      // Waiting for a reader would stop the whole process; the line waits instead.
      retryEAGAIN: () => false,
    });
    destination.on('drop', () => this.#droppedLines++);
    destination.on('error', (error: NodeJS.ErrnoException) => {
      // After this pino's destination ignores what it is given; the line at hand is lost already.
      if (error.code !== 'EPIPE' || destination !== this.#destination) return;
      this.#isBroken = true;
      this.#droppedLines++;
    });
    return destination;
  }

  #makeLogger(pino: Pino): PinoLogger<LineLevel> {
    // pino decides that a line is written and when; what is written is the line of the layout.
    const stream: DestinationStream = {
      write: () => void this.#destination?.write(this.#line),
    };
    return pino<LineLevel>(
      {
        level: 'trace',
        customLevels: pinoLevels,
        useOnlyCustomLevels: true,
        base: null,
        timestamp: false,
      },
      stream,
    );
  }

  #writeDirectly(line: string): void {
    try {
      if (this.#rest !== undefined) {
        const rest = this.#rest;
        this.#rest = writeSomeOf(this.#fd, rest);
        if (this.#rest !== undefined) {
          this.#droppedLines++;
          return;
        }
      }
      this.#rest = writeSomeOf(this.#fd, Buffer.from(line));
    } catch {
      this.#droppedLines++;
    }
  }
}

/** @returns what is left after the output took a part; an output that takes nothing throws */
function writeSomeOf(fd: number, line: Buffer): Buffer | undefined {
  const written = writeSync(fd, line);
  if (written === line.length) return undefined;
  const rest = line.subarray(written);
  try {
    return writeSomeOf(fd, rest);
  } catch {
    return rest;
  }
}

function openLog(path: string): number {
  if (path === '') return stderrFd;
  try {
    return openSync(path, 'a', 0o644);
  } catch (error) {
    throw new LogFileError(path, error);
  }
}
