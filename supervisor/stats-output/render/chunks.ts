/**
 * Makes pages in pieces: a page's text is collected statistic by statistic and handed on when
 * enough of it is there, so that no page is ever whole in memory. A page is a generator whose every
 * step is short: where nothing is to be shown it yields an empty piece, at which the sender
 * may pause.
 */
import {
  visitInSteps,
  type Segment,
  type StatGroup,
  type Visit,
} from '../../stats/ordered-view.ts';

/** Characters after which a piece is handed on. */
const CHUNK_LENGTH = 64 * 1024;
/** Statistics looked at in one step; of those whose names are matched each is one. */
const STATS_PER_STEP = 256;
const MATCHED_PER_STEP = 1;

/** Collects text; what is collected is taken away chunk by chunk. */
export class PageText {
  #text = '';

  add(text: string): void {
    this.#text += text;
  }

  /** What there is once it is enough, and nothing before. */
  takeChunk(): string {
    return this.#text.length >= CHUNK_LENGTH ? this.take() : '';
  }

  take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }
}

/** How many statistics are looked at in one step of a page. */
export function statsPerStep(selection: { readonly acceptsName?: unknown }): number {
  return selection.acceptsName === undefined ? STATS_PER_STEP : MATCHED_PER_STEP;
}

/**
 * Visits one group of all segments; `visit` writes into `text`. What is left there is the caller's.
 */
export function* streamGroup(
  { segments, perStep }: { readonly segments: readonly Segment[]; readonly perStep: number },
  group: StatGroup,
  text: PageText,
  visit: Visit,
): Generator<string> {
  for (const segment of segments) {
    for (const _ of visitInSteps(segment, group, visit, perStep)) yield text.takeChunk();
    yield text.takeChunk();
  }
}

/** Adds the text of each member, in chunks; undefined is a member that is not shown. */
export function* addAll<T>(
  members: Iterable<T | undefined>,
  text: PageText,
  textOf: (member: T) => string,
): Generator<string> {
  for (const member of members) {
    if (member !== undefined) text.add(textOf(member));
    yield text.takeChunk();
  }
}
