/**
 * One file with many texts, each read alone: four bytes with the length of its index, the index
 * (JSON: pairs of a name and its first byte and length, counted from the index's end), and the texts.
 */
import { closeSync, openSync, readSync } from 'node:fs';

const LENGTH_BYTES = 4;
/** The name of the comments of fields in the archive of the API; no package is called so. */
export const FIELD_COMMENTS = '#field-comments';

type Index = ReadonlyMap<string, readonly [first: number, length: number]>;

export class PackageArchive {
  readonly #path: string;
  #start = 0;
  #index: Index | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Sorted, as they were written. */
  names(): string[] {
    return [...this.#read((fd) => this.#indexOf(fd)).keys()];
  }

  /** Undefined: there is none of this name. */
  text(name: string): string | undefined {
    return this.bytes(name)?.toString();
  }

  bytes(name: string): Buffer | undefined {
    return this.#read((fd) => {
      const place = this.#indexOf(fd).get(name);
      return place && bytesAt(fd, this.#start + place[0], place[1]);
    });
  }

  #indexOf(fd: number): Index {
    if (this.#index === undefined) {
      const length = bytesAt(fd, 0, LENGTH_BYTES).readUInt32LE(0);
      const text = bytesAt(fd, LENGTH_BYTES, length).toString();
      this.#index = new Map(JSON.parse(text) as [name: string, place: [number, number]][]);
      this.#start = LENGTH_BYTES + length;
    }
    return this.#index;
  }

  #read<T>(use: (fd: number) => T): T {
    const fd = openSync(this.#path, 'r');
    try {
      return use(fd);
    } finally {
      closeSync(fd);
    }
  }
}

/** The whole file for these texts. */
export function archiveOf(texts: ReadonlyMap<string, string | Buffer>): Buffer {
  const places = new Map<string, [number, number]>();
  const pieces: Buffer[] = [];
  let at = 0;
  for (const [name, text] of [...texts].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    pieces.push(bytes);
    places.set(name, [at, bytes.length]);
    at += bytes.length;
  }
  const index = Buffer.from(JSON.stringify([...places]));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(index.length);
  return Buffer.concat([length, index, ...pieces]);
}

function bytesAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  const read = readSync(fd, bytes, 0, length, position);
  if (read !== length) throw new Error(`${length - read} bytes are missing at ${position}`);
  return bytes;
}
