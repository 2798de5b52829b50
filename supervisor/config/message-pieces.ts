/**
 * Cuts a large normalised message into texts that can be read one at a time: long lists, such as a
 * bootstrap's clusters or an assignment's endpoints, are taken out and cut into slices. Where a
 * slice ends follows from what is in it, so that a list which is mostly as it was has mostly the
 * same slices, and these need not be read again.
 */
import { createHash } from 'node:crypto';
import { type MessageObject, isMessageObject } from './convert/message-object.ts';

export interface Pieces {
  /** JSON of the message without its long lists. */
  readonly frame: string;
  readonly slices: readonly Slice[];
}

interface Slice {
  /** Field names and indices from the message to the list. */
  readonly path: readonly (string | number)[];
  /** JSON of a part of the list. */
  readonly json: string;
  /** The digest of `json`: the same for the same text alone. Absent: it is read once. */
  readonly digest?: string;
}

/** Some 200 clusters are read in a millisecond or two, if they have few hosts. */
const itemsPerSlice = 200;
/** Read in about three milliseconds. */
const charactersPerSlice = 256 * 1024;
/** A slice ends behind every so many items at random, if it has as many already. */
const cutEvery = 64;
/** Lists below are left in their places: those of endpoints in a bootstrap stand in this depth. */
const deepestList = 7;

type Cut = (list: readonly unknown[]) => readonly Omit<Slice, 'path'>[];

/** `isRepeated`: most of it may come again. */
export function splitMessage(message: MessageObject, isRepeated: boolean): Pieces {
  const slices: Slice[] = [];
  const cut = isRepeated ? cutByContent : cutBySize;
  const frame = withoutLists(message, [], (list, path) => {
    for (const slice of cut(list)) slices.push({ path, ...slice });
  });
  return { frame: JSON.stringify(frame), slices };
}

/** A copy where lists were taken out, `value` itself where none was. */
function withoutLists(
  value: unknown,
  path: Slice['path'],
  takeOut: (list: readonly unknown[], path: Slice['path']) => void,
): unknown {
  if (path.length > deepestList) return value;
  if (Array.isArray(value)) {
    if (value.length > itemsPerSlice) {
      takeOut(value, path);
      return [];
    }
    const rest = value.map((item: unknown, index) => withoutLists(item, [...path, index], takeOut));
    return rest.some((item, index) => item !== value[index]) ? rest : value;
  }
  if (!isMessageObject(value)) return value;
  let rest: MessageObject | undefined;
  for (const [name, field] of Object.entries(value)) {
    if (typeof field !== 'object') continue;
    const without = withoutLists(field, [...path, name], takeOut);
    if (without === field) continue;
    rest ??= { ...value };
    rest[name] = without;
  }
  return rest ?? value;
}

const cutBySize: Cut = (list) => {
  const slices: Omit<Slice, 'path'>[] = [];
  let texts: string[] = [];
  let characters = 0;
  for (const [index, item] of list.entries()) {
    const text = JSON.stringify(item);
    texts.push(text);
    characters += text.length;
    if (characters < charactersPerSlice && index < list.length - 1) continue;
    slices.push({ json: `[${texts.join(',')}]` });
    texts = [];
    characters = 0;
  }
  return slices;
};

const cutByContent: Cut = (list) => {
  const slices: Omit<Slice, 'path'>[] = [];
  let texts: string[] = [];
  for (const [index, item] of list.entries()) {
    const text = JSON.stringify(item);
    texts.push(text);
    const isLong = texts.length >= itemsPerSlice;
    const mayEnd = isLong || (texts.length >= cutEvery && hashOf(text) % cutEvery === 0);
    if (!mayEnd && index < list.length - 1) continue;
    const json = `[${texts.join(',')}]`;
    slices.push({ json, digest: createHash('sha256').update(json).digest('base64') });
    texts = [];
  }
  return slices;
};

/** Spreads alike texts; FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}

/**
 * Puts the pieces together, pausing before each that has to be read. Items of `known` are shared.
 */
export async function joinPieces(
  pieces: Pieces,
  pause: () => Promise<void>,
  known = new KnownSlices(),
): Promise<unknown> {
  const message = JSON.parse(pieces.frame) as unknown;
  for (const { path, json, digest } of pieces.slices) {
    let items = digest === undefined ? undefined : known.take(digest)?.items;
    if (items === undefined) {
      await pause();
      items = JSON.parse(json) as unknown[];
    }
    if (digest !== undefined) known.keep(digest, { items, size: json.length });
    const list = path.reduce<unknown>(
      (value, step) => (value as Readonly<Record<string | number, unknown>> | undefined)?.[step],
      message,
    );
    if (Array.isArray(list)) for (const item of items) list.push(item);
  }
  return message;
}

interface KnownSlice {
  readonly items: readonly unknown[];
  /** Characters of its JSON. */
  readonly size: number;
}

/** Slices of the last messages, up to a number of characters in all. */
export class KnownSlices {
  readonly #mostCharacters: number;
  /** By digest, the one that was used last behind the others. */
  readonly #slices = new Map<string, KnownSlice>();
  #characters = 0;

  constructor(mostCharacters = 0) {
    this.#mostCharacters = mostCharacters;
  }

  take(digest: string): KnownSlice | undefined {
    const slice = this.#slices.get(digest);
    if (slice === undefined) return undefined;
    this.#slices.delete(digest);
    this.#characters -= slice.size;
    return slice;
  }

  keep(digest: string, slice: KnownSlice): void {
    this.take(digest);
    this.#slices.set(digest, slice);
    this.#characters += slice.size;
    for (const oldest of this.#slices.keys()) {
      if (this.#characters <= this.#mostCharacters) break;
      this.take(oldest);
    }
  }
}
