/**
 * Takes server-sent events apart (WHATWG HTML, section 9.2): an event ends with an empty line, and its
 * data is what stands in its `data` fields. What is not yet whole is kept, up to a limit.
 */
export interface EventReaderOwner {
  /** Undefined: the event has no data. */
  onEvent(data: string | undefined): void;
  onTooLarge(): void;
}

const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';
/** A lone CR ends a line, too, once it is known that no LF follows. */
const LINE_END = /\r\n|\n|\r(?=[^\n])/g;

export class EventReader {
  readonly #bytesMax: number;
  readonly #owner: EventReaderOwner;
  /** The rest of the line that is not whole; one character per byte. */
  #rest = '';
  #data: string[] = [];
  #eventBytes = 0;
  #hasFields = false;
  #isFirst = true;
  /** The event was too large: what is left of it is skipped. */
  #isSkipping = false;

  constructor(bytesMax: number, owner: EventReaderOwner) {
    this.#bytesMax = bytesMax;
    this.#owner = owner;
  }

  add(piece: Buffer): void {
    const text = this.#rest + piece.toString('latin1');
    let start = 0;
    if (this.#isFirst && text.length >= BYTE_ORDER_MARK.length) {
      this.#isFirst = false;
      if (text.startsWith(BYTE_ORDER_MARK)) start = BYTE_ORDER_MARK.length;
    }
    // What was there before has no end of a line, but for a CR that may be one now.
    LINE_END.lastIndex = Math.max(start, this.#rest.length - 1);
    for (let end = LINE_END.exec(text); end !== null; end = LINE_END.exec(text)) {
      this.#line(text.slice(start, end.index));
      start = LINE_END.lastIndex;
    }
    this.#rest = text.slice(start);
    if (this.#eventBytes + this.#rest.length > this.#bytesMax) this.#giveUp();
  }

  #line(line: string): void {
    if (line === '') return this.#end();
    if (this.#isSkipping) return;
    this.#hasFields = true;
    this.#eventBytes += line.length;
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    if (name !== 'data') return;
    const value = colon === -1 ? '' : line.slice(colon + 1);
    this.#data.push(value.startsWith(' ') ? value.slice(1) : value);
  }

  #end(): void {
    const data = this.#data;
    const isWhole = this.#hasFields && !this.#isSkipping;
    this.#forget();
    this.#isSkipping = false;
    if (!isWhole) return;
    this.#owner.onEvent(
      data.length === 0 ? undefined : Buffer.from(data.join('\n'), 'latin1').toString(),
    );
  }

  #giveUp(): void {
    if (!this.#isSkipping) this.#owner.onTooLarge();
    this.#forget();
    this.#isSkipping = true;
    // Its end may be in the middle of these.
    this.#rest = this.#rest.slice(-1);
  }

  #forget(): void {
    this.#data = [];
    this.#eventBytes = 0;
    this.#hasFields = false;
  }
}
