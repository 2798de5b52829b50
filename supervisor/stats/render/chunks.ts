/**
 * Streams pages in chunks: a page's text is collected statistic by statistic and handed on when
 * enough of it is there, with a turn of the event loop in between, so that no page, however long,
 * holds up anything else and none is ever whole in memory.
 */
import { setImmediate } from 'node:timers/promises';
import { visitSegment, type Segment, type StatGroup, type Visit } from '../ordered-view.ts';

/** Characters after which a chunk is handed on. */
const CHUNK_LENGTH = 64 * 1024;
/** Segments without output after which the event loop gets its turn all the same. */
const QUIET_SEGMENTS = 64;

/** Collects text; what is collected is taken away chunk by chunk. */
export class PageText {
  #text = '';

  add(text: string): void {
    this.#text += text;
  }

  get isChunk(): boolean {
    return this.#text.length >= CHUNK_LENGTH;
  }

  take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }
}

/** Visits one group of all segments; `visit` writes into `text`. What is left there is the caller's. */
export async function* streamGroup(
  segments: readonly Segment[],
  group: StatGroup,
  text: PageText,
  visit: Visit,
): AsyncGenerator<string> {
  let quiet = 0;
  for (const segment of segments) {
    visitSegment(segment, group, visit);
    quiet++;
    if (text.isChunk) {
      yield text.take();
    } else if (quiet < QUIET_SEGMENTS) {
      continue;
    }
    quiet = 0;
    await setImmediate();
  }
}

/** Adds the text of each member, in chunks. */
export async function* addAll<T>(
  members: Iterable<T>,
  text: PageText,
  textOf: (member: T) => string,
): AsyncGenerator<string> {
  for (const member of members) {
    text.add(textOf(member));
    if (!text.isChunk) continue;
    yield text.take();
    await setImmediate();
  }
}
