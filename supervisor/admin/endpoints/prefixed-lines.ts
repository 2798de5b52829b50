/**
 * Lines that all begin with the same text, such as those of one host, as bytes. The next host's
 * lines mostly differ in that text alone, and in few bytes of it: the lines stay as they were made
 * for a prefix of this length, and only bytes that differ are written. That is several times faster
 * than to join texts and to encode them.
 */

/** Prefixes that are longer, or not ASCII, are joined as text. */
const PREFIX_LENGTH_MAX = 256;
const ASCII_MAX = 0x7f;

/** Bytes that the lines of one page may keep, all together. */
export class LinesRoom {
  #left = 2 * 1024 * 1024;

  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }
}

/** The lines with a prefix of one length. */
interface Layout {
  readonly bytes: Buffer;
  /** Where the prefix stands. */
  readonly starts: readonly number[];
  /** As it is written at present. */
  readonly prefix: Uint8Array;
}

export class PrefixedLines {
  readonly #lines: readonly string[];
  readonly #room: LinesRoom;
  readonly #layouts = new Map<number, Layout>();

  /** Each line ends with its line feed. */
  constructor(lines: readonly string[], room: LinesRoom) {
    this.#lines = lines;
    this.#room = room;
  }

  /** What comes as bytes holds until the next call. */
  withPrefix(prefix: string): Buffer | string {
    const layout = this.#layouts.get(prefix.length) ?? this.#addLayout(prefix.length);
    if (layout === undefined || !writePrefix(layout, prefix)) return joined(prefix, this.#lines);
    return layout.bytes;
  }

  #addLayout(length: number): Layout | undefined {
    if (length > PREFIX_LENGTH_MAX) return undefined;
    const bytes = Buffer.from(joined('\0'.repeat(length), this.#lines));
    if (!this.#room.take(bytes.length)) return undefined;
    const starts: number[] = [];
    let start = 0;
    for (const line of this.#lines) {
      starts.push(start);
      start += length + Buffer.byteLength(line);
    }
    const layout = { bytes, starts, prefix: new Uint8Array(length) };
    this.#layouts.set(length, layout);
    return layout;
  }
}

/** False where the prefix is not ASCII; what is written by then is consistent. */
function writePrefix({ bytes, starts, prefix: written }: Layout, prefix: string): boolean {
  for (let at = 0; at < prefix.length; at++) {
    const code = prefix.charCodeAt(at);
    if (code === written[at]) continue;
    if (code > ASCII_MAX) return false;
    written[at] = code;
    for (const start of starts) bytes[start + at] = code;
  }
  return true;
}

function joined(prefix: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : prefix + lines.join(prefix);
}
