/**
 * Header blocks that were parsed lately. Clients and hosts send the same lines again and again:
 * such a block is found by its length, compared as one text, and gives its fields and what they say
 * without being parsed. A worker has one table for all connections; it holds no more than its slots.
 */
import type { HeaderMap } from '../stream/header-map.ts';

/** What the header lines of one message say of its framing. */
interface BlockFacts {
  /** -1 without a content-length. */
  contentLength: number;
  chunked: boolean;
  sawClose: boolean;
  sawKeepAlive: boolean;
  expectContinue: boolean;
  hostCount: number;
  /** Bytes of the header lines as Envoy counts them: without the space behind a colon. */
  headerBytes: number;
  lines: number;
}

/** Where what a block says is held. */
export interface ParsedBlock extends BlockFacts {
  /** Some lines mean something in requests alone. */
  readonly isRequest: boolean;
  /** Lines that a block may have. */
  readonly maxLines: number;
}

interface KnownBlock extends Readonly<BlockFacts> {
  readonly text: string;
  readonly isRequest: boolean;
  readonly fields: readonly string[];
  readonly authority: string;
}

/** Longer blocks hold what changes with each message. */
const MAX_LENGTH = 1024;
const SLOTS = 256;
/** Of unknown blocks one in so many takes its slot: those that never come again cost little. */
const KEPT_ONE_IN = 8;

export class KnownBlocks {
  readonly #slots: (KnownBlock | undefined)[] = Array.from({ length: SLOTS });
  #unknown = 0;

  /** Gives `headers` and `block` what the known block at `start` says; its length, or 0. */
  recall(text: string, start: number, headers: HeaderMap, block: ParsedBlock): number {
    const length = text.indexOf('\n\r\n', start - 1) + 3 - start;
    const known = this.#slots[length & (SLOTS - 1)];
    if (known === undefined || known.text.length !== length) return 0;
    if (known.isRequest !== block.isRequest || known.lines > block.maxLines) return 0;
    if (text.slice(start, start + length) !== known.text) return 0;
    // Names as they were written are not kept here.
    if (headers.originalNames !== undefined) return 0;
    headers.takeParsed(known.fields);
    if (known.hostCount > 0) headers.authority = known.authority;
    block.contentLength = known.contentLength;
    block.chunked = known.chunked;
    block.sawClose = known.sawClose;
    block.sawKeepAlive = known.sawKeepAlive;
    block.expectContinue = known.expectContinue;
    block.hostCount = known.hostCount;
    block.headerBytes = known.headerBytes;
    block.lines = known.lines;
    return length;
  }

  /** Remembers some of the blocks that were parsed. */
  note(text: string, headers: HeaderMap, block: ParsedBlock): void {
    if (text.length > MAX_LENGTH || ++this.#unknown % KEPT_ONE_IN !== 0) return;
    this.#slots[text.length & (SLOTS - 1)] = {
      text: ownCopy(text),
      fields: headers.entries.map((part, at) => (at % 2 === 0 ? part : ownCopy(part))),
      authority: ownCopy(headers.authority),
      isRequest: block.isRequest,
      contentLength: block.contentLength,
      chunked: block.chunked,
      sawClose: block.sawClose,
      sawKeepAlive: block.sawKeepAlive,
      expectContinue: block.expectContinue,
      hostCount: block.hostCount,
      headerBytes: block.headerBytes,
      lines: block.lines,
    };
  }
}

/** A slice would keep all of its read alive. */
function ownCopy(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
