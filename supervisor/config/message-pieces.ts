/**
 * Cuts a large normalised message into texts that can be read one at a time: long lists at the top
 * and one level below it, such as a bootstrap's clusters, are taken out and cut into slices.
 */
import { type MessageObject, isMessageObject } from './convert/message-object.ts';

export interface Pieces {
  /** JSON of the message without its long lists. */
  readonly frame: string;
  readonly slices: readonly Slice[];
}

interface Slice {
  /** Field names from the message to the list. */
  readonly path: readonly string[];
  /** JSON of a part of the list. */
  readonly json: string;
}

/** Some 200 clusters are read in a millisecond or two. */
const itemsPerSlice = 200;

export function splitMessage(message: MessageObject): Pieces {
  const slices: Slice[] = [];
  const frame = takeLists(message, [], slices);
  return { frame: JSON.stringify(frame), slices };
}

function takeLists(message: MessageObject, path: string[], slices: Slice[]): MessageObject {
  const rest: MessageObject = {};
  for (const [name, value] of Object.entries(message)) {
    if (Array.isArray(value) && value.length > itemsPerSlice) {
      for (let from = 0; from < value.length; from += itemsPerSlice) {
        const json = JSON.stringify(value.slice(from, from + itemsPerSlice));
        slices.push({ path: [...path, name], json });
      }
      rest[name] = [];
    } else if (isMessageObject(value) && path.length === 0) {
      rest[name] = takeLists(value, [name], slices);
    } else {
      rest[name] = value;
    }
  }
  return rest;
}

/** Puts the pieces together, pausing between them. */
export async function joinPieces(pieces: Pieces, pause: () => Promise<void>): Promise<unknown> {
  const message = JSON.parse(pieces.frame) as unknown;
  for (const { path, json } of pieces.slices) {
    await pause();
    const list = path.reduce<unknown>(
      (value, name) => (isMessageObject(value) ? value[name] : undefined),
      message,
    );
    if (Array.isArray(list)) {
      list.push(...(JSON.parse(json) as unknown[]));
    }
  }
  return message;
}
