/**
 * Parses the header lines of one HTTP/1 message, and what they say of the message's framing. Shared
 * by requests, responses and trailers. Strict: whatever two parsers could read differently is
 * refused.
 *
 * Input is the head as latin-1 text, so that one character is one byte. A line ends in CRLF, or in
 * LF alone as RFC 9112 section 2.2 permits; folded lines, bare CR and other control bytes are
 * refused.
 *
 * `connection`, `transfer-encoding`, `keep-alive`, `proxy-connection`, `upgrade` of a plain message and
 * whatever `connection` names belong to this hop: they become facts here and never enter the map;
 * only a request for an upgrade keeps its `connection`.
 */
import type { HeaderMap } from '../stream/header-map.ts';
import { HeaderKind, headerName } from '../stream/header-names.ts';
import { isAuthority, isContentLength } from '../stream/permitted.ts';
import { keepOnlyTrailers, MAX_NOMINATED, NOT_NOMINABLE } from './hop-headers.ts';
import { KnownBlocks, type ParsedBlock } from './known-blocks.ts';
import type { MessageLimits } from './message-limits.ts';
import { type ParseError, parseErrors } from './parse-errors.ts';

const CR = 0x0d;
const SP = 0x20;
const TAB = 0x09;
/**
 * Control bytes that no line may hold; CR is checked apart, since only the line's end may have it.
 */
// oxlint-disable-next-line no-control-regex
const FORBIDDEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)/;
type HeaderBlockLimits = Pick<
  MessageLimits,
  'maxHeaderCount' | 'allowChunkedLength' | 'ignoresUpgrade'
>;

/** Of all connections of the worker. */
const knownBlocks = new KnownBlocks();

/** One per connection and direction; holds the facts of the block parsed last. */
export class HeaderBlockParser implements ParsedBlock {
  readonly #limits: HeaderBlockLimits;
  contentLength = -1;
  chunked = false;
  sawClose = false;
  sawKeepAlive = false;
  expectContinue = false;
  hostCount = 0;
  /** Where the body begins, behind the empty line. */
  end = 0;
  headerBytes = 0;
  lines = 0;
  isRequest = false;
  #upgradeNominated = false;
  #upgrade = '';
  /**
   * All values of `connection` beyond the usual two; kept for the request that asks for an upgrade.
   */
  #hopOptions = '';
  #nominated: string[] | undefined = undefined;
  #transferEncodings = 0;
  #isOddCoding = false;
  #sawTe = false;
  /** The present special header's name as it was written. */
  #raw = '';

  constructor(limits: HeaderBlockLimits) {
    this.#limits = limits;
  }

  get maxLines(): number {
    return this.#limits.maxHeaderCount;
  }

  /**
   * Parses lines from `start` up to and with the empty line into `headers`. `text` holds that empty
   * line. `isRequest` keeps `upgrade` only where `connection` names it and refuses what only
   * requests are refused for.
   */
  parse(
    text: string,
    start: number,
    headers: HeaderMap,
    isRequest: boolean,
  ): ParseError | undefined {
    this.isRequest = isRequest;
    const length = knownBlocks.recall(text, start, headers, this);
    if (length === 0) return this.#parseLines(text, start, headers);
    this.end = start + length;
    // The block was looked at when it was parsed, the first line of this message was not.
    return FORBIDDEN.test(text.slice(0, start)) ? parseErrors.invalidCharacters : undefined;
  }

  #parseLines(text: string, start: number, headers: HeaderMap): ParseError | undefined {
    this.#reset();
    let at = start;
    let count = 0;
    for (;;) {
      let lineEnd = text.indexOf('\n', at);
      if (lineEnd < 0) return parseErrors.codec;
      const next = lineEnd + 1;
      if (text.charCodeAt(lineEnd - 1) === CR && lineEnd > at) lineEnd--;
      if (lineEnd === at) {
        this.end = next;
        this.headerBytes = Math.max(at - start - count, 0);
        this.lines = count;
        if (FORBIDDEN.test(next === text.length ? text : text.slice(0, next))) {
          return parseErrors.invalidCharacters;
        }
        const isCommon = this.#isCommon;
        const error = this.#conclude(headers);
        if (error === undefined && isCommon) {
          knownBlocks.note(text.slice(start, next), headers, this);
        }
        return error;
      }
      if (++count > this.maxLines) return parseErrors.tooManyHeaders;
      const error = this.#line(text, at, lineEnd, headers);
      if (error !== undefined) return error;
      at = next;
    }
  }

  #reset(): void {
    this.contentLength = -1;
    this.chunked = false;
    this.sawClose = false;
    this.sawKeepAlive = false;
    this.expectContinue = false;
    this.hostCount = 0;
    this.#upgradeNominated = false;
    this.#upgrade = '';
    this.#hopOptions = '';
    this.#nominated = undefined;
    this.#transferEncodings = 0;
    this.#isOddCoding = false;
    this.#sawTe = false;
  }

  #line(text: string, at: number, lineEnd: number, headers: HeaderMap): ParseError | undefined {
    const colon = text.indexOf(':', at);
    if (colon < 0 || colon >= lineEnd) return parseErrors.codec;
    const raw = text.slice(at, colon);
    const header = headerName(raw);
    if (header === undefined) {
      return FORBIDDEN.test(raw) ? parseErrors.invalidCharacters : parseErrors.codec;
    }
    let from = colon + 1;
    let to = lineEnd;
    for (let code = text.charCodeAt(from); code === SP || code === TAB;) {
      code = text.charCodeAt(++from);
    }
    if (from > to) from = to;
    for (let code = text.charCodeAt(to - 1); to > from && (code === SP || code === TAB);) {
      code = text.charCodeAt(--to - 1);
    }
    const value = text.slice(from, to);
    if (header.kind !== HeaderKind.ordinary) {
      this.#raw = raw;
      return this.#special(header.kind, value, headers);
    }
    headers.addParsed(header.name, value, raw);
    return undefined;
  }

  #special(kind: number, value: string, headers: HeaderMap): ParseError | undefined {
    switch (kind) {
      case HeaderKind.host:
        return this.#host(value, headers);
      case HeaderKind.contentLength:
        return this.#length(value, headers);
      case HeaderKind.transferEncoding:
        this.#coding(value);
        return undefined;
      case HeaderKind.connection:
        return this.#connection(value);
      case HeaderKind.proxyConnection:
        if (value.toLowerCase() === 'close') this.sawClose = true;
        return undefined;
      case HeaderKind.upgrade:
        this.#upgrade = this.#upgrade === '' ? value : `${this.#upgrade},${value}`;
        return undefined;
      case HeaderKind.expect:
        if (value.toLowerCase() === '100-continue') this.expectContinue = true;
        else this.#store('expect', value, headers);
        return undefined;
      case HeaderKind.te:
        this.#sawTe = true;
        this.#store('te', value, headers);
        return undefined;
      default:
        return undefined;
    }
  }

  #host(value: string, headers: HeaderMap): ParseError | undefined {
    this.hostCount++;
    if (this.hostCount > 1) return parseErrors.codec;
    if (value !== '' && !isAuthority(value)) return parseErrors.invalidAuthority;
    headers.authority = value;
    return undefined;
  }

  #length(value: string, headers: HeaderMap): ParseError | undefined {
    if (this.contentLength >= 0 || !isContentLength(value)) return parseErrors.codec;
    this.contentLength = Number(value);
    if (!Number.isSafeInteger(this.contentLength)) return parseErrors.codec;
    this.#store('content-length', value, headers);
    return undefined;
  }

  /** What is wrong with it counts less than what else may be wrong with the head. */
  #coding(value: string): void {
    this.#transferEncodings++;
    if (this.#transferEncodings === 1 && value.toLowerCase() === 'chunked') this.chunked = true;
    else this.#isOddCoding = true;
  }

  #store(name: string, value: string, headers: HeaderMap): void {
    headers.addParsed(name, value, name === 'upgrade' ? 'Upgrade' : this.#raw);
  }

  #connection(value: string): ParseError | undefined {
    // The two values that nearly every message has.
    if (value === 'keep-alive') {
      this.sawKeepAlive = true;
      return undefined;
    }
    if (value === 'close') {
      this.sawClose = true;
      return undefined;
    }
    this.#hopOptions = this.#hopOptions === '' ? value : `${this.#hopOptions},${value}`;
    for (const part of value.split(',')) {
      const token = part.trim().toLowerCase();
      if (token === 'close') this.sawClose = true;
      else if (token === 'keep-alive') this.sawKeepAlive = true;
      else if (token === 'upgrade') this.#upgradeNominated = true;
      else if (NOT_NOMINABLE.has(token) || token.startsWith(':'))
        return parseErrors.connectionHeader;
      else if (token !== '' && token !== 'te') {
        this.#nominated ??= [];
        if (this.#nominated.push(token) > MAX_NOMINATED) return parseErrors.connectionHeader;
      }
    }
    return undefined;
  }

  /** Says the same under all limits. */
  get #isCommon(): boolean {
    return this.#upgrade === '' && (this.#transferEncodings === 0 || this.contentLength < 0);
  }

  #conclude(headers: HeaderMap): ParseError | undefined {
    if (this.#transferEncodings > 0 && this.contentLength >= 0) {
      if (!this.#limits.allowChunkedLength) return parseErrors.lengthAndChunked;
      if (this.#isOddCoding) return parseErrors.transferEncoding;
      headers.remove('content-length');
      this.contentLength = -1;
    }
    if (this.#isOddCoding) return parseErrors.transferEncoding;
    if (this.#upgrade !== '') this.#dropIgnored();
    if (this.#upgrade !== '' && this.#upgradeNominated) {
      this.#store('upgrade', this.#upgrade, headers);
      if (this.isRequest) this.#keepHopOptions(headers);
    }
    if (!this.isRequest) return undefined;
    if (this.#sawTe) keepOnlyTrailers(headers);
    if (this.#nominated !== undefined) for (const name of this.#nominated) headers.remove(name);
    return undefined;
  }

  /** Each of several protocols is ignored for itself; h2c is, where it stands alone. */
  #dropIgnored(): void {
    const ignores = this.#limits.ignoresUpgrade;
    if (this.#upgrade.toLowerCase() === 'h2c') this.#upgrade = '';
    else if (ignores !== undefined) {
      const tokens = this.#upgrade.split(',').map((token) => token.trim());
      this.#upgrade = tokens.filter((token) => token !== '' && !ignores(token)).join(',');
    }
  }

  /** Routes are matched by it and the upstream is asked with it; not with what was taken away. */
  #keepHopOptions(headers: HeaderMap): void {
    const value = this.#nominated === undefined ? this.#hopOptions : 'upgrade';
    headers.addParsed('connection', value, 'Connection');
  }
}
