/**
 * The one door to files that a configuration names for reading. A control plane may name anything:
 * a pipe that nobody writes to, a device without end, a loop of links. What is no regular file is
 * refused, as is whatever lies below /dev, /proc and /sys, in Envoy's words; no more than a limit
 * is read, and opening never waits.
 */
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { open, realpath, type FileHandle } from 'node:fs/promises';

/**
 * The limit of certificates, keys, bodies, lists of users and whatever else is read as a whole into
 * a value.
 */
export const SOURCE_BYTES_MAX = 16 * 1024 * 1024;

const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
const PIECE_BYTES = 1024 * 1024;

/** The file must not be read, even if this user may open it. */
export class RefusedFileError extends Error {
  /** Envoy's words, where it refuses the file too. */
  readonly reference: string | undefined;

  constructor(message: string, reference?: string) {
    super(message);
    this.name = 'RefusedFileError';
    this.reference = reference;
  }
}

/**
 * In the loop's own turn: for what resolves at once. Throws as `open` does, or `RefusedFileError`.
 */
export function readConfiguredFileNow(path: string, bytesMax = SOURCE_BYTES_MAX): Buffer {
  refuseSystemPath(path, realpathSync(path));
  const fd = openSync(path, FLAGS);
  try {
    checkRegular(path, fstatSync(fd), bytesMax);
    const pieces: Buffer[] = [];
    for (let read = 0; ;) {
      const piece = Buffer.allocUnsafe(PIECE_BYTES);
      const count = readSync(fd, piece);
      if (count === 0) return Buffer.concat(pieces);
      pieces.push(piece.subarray(0, count));
      read += count;
      // It grew.
      if (read > bytesMax) throw tooLarge(path, read, bytesMax);
    }
  } finally {
    closeSync(fd);
  }
}

/** Without keeping the loop. */
export async function readConfiguredFile(path: string, bytesMax: number): Promise<Buffer> {
  refuseSystemPath(path, await realpath(path));
  const file = await open(path, FLAGS);
  try {
    checkRegular(path, await file.stat(), bytesMax);
    return await readUpTo(file, path, bytesMax);
  } finally {
    await file.close();
  }
}

/** Reads a file of the operator's: it may be a pipe, which is read to its end. */
export async function readOperatorsFile(path: string, bytesMax: number): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOCTTY);
  try {
    return await readUpTo(file, path, bytesMax);
  } finally {
    await file.close();
  }
}

async function readUpTo(file: FileHandle, path: string, bytesMax: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let read = 0; ;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE_BYTES));
    if (bytesRead === 0) return Buffer.concat(pieces);
    pieces.push(buffer.subarray(0, bytesRead));
    read += bytesRead;
    if (read > bytesMax) throw tooLarge(path, read, bytesMax);
  }
}

/** `real` is without links. */
function refuseSystemPath(path: string, real: string): void {
  if (!/^\/(?:dev|proc|sys)(?:\/|$)/.test(real)) return;
  const words = `Invalid path: ${path}`;
  throw new RefusedFileError(words, words);
}

function checkRegular(
  path: string,
  facts: { readonly size: number; isFile(): boolean; isDirectory(): boolean },
  bytesMax: number,
): void {
  if (facts.isDirectory()) throw new RefusedFileError(`'${path}' is a directory`);
  if (!facts.isFile()) throw new RefusedFileError(`'${path}' is no regular file`);
  if (facts.size > bytesMax) throw tooLarge(path, facts.size, bytesMax);
}

function tooLarge(path: string, size: number, bytesMax: number): RefusedFileError {
  return new RefusedFileError(`'${path}' has ${size} bytes or more; the limit is ${bytesMax}`);
}
