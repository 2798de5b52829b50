/**
 * The fields of one HTTP/2 message as they come (RFC 9113 section 8): puts them into a header map
 * and refuses what could be read in two ways. Owns what a message may say; framing and streams are
 * the session's. One per connection, begun again for each block.
 */
import { HeaderMap } from '../stream/header-map.ts';
import { withNext } from '../stream/pseudo-order.ts';
import { ErrorCode } from './frames.ts';
import type { FieldSink } from './hpack/decoder.ts';

export interface MessageLimits {
  /** The limit of names and values. */
  readonly maxHeaderBytes: number;
  readonly maxHeaderCount: number;
  /** `:protocol` may stand in a CONNECT. */
  readonly allowConnect: boolean;
}

export type MessageKind = 'request' | 'response' | 'trailers';

/** Why a message is refused: too many bytes or fields end its stream, the rest breaks rules. */
export interface MessageFault {
  readonly kind: 'too_large' | 'too_many' | 'invalid';
  readonly details: string;
}

/** Where refused sizes count. */
export const SIZE_STATS = {
  too_large: 'header_list_size_too_large',
  too_many: 'header_overflow',
} as const;

export const INVALID_FIELD = 'http2.invalid.header.field';
export const VIOLATION = 'http2.violation.of.messaging.rule';

/** Lower-case tokens (RFC 9113 section 8.2.1). */
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
/** Control bytes in a value. Blanks around it are taken and passed on, as in Envoy. */
// oxlint-disable-next-line no-control-regex
const BAD_VALUE = /[\x00-\x08\x0a-\x1f\x7f]/;
// oxlint-disable-next-line no-control-regex
const BAD_PATH = /[\x00-\x20\x7f]/;
const AUTHORITY = /^[A-Za-z0-9\-._~%!$&'()*+,;=:[\]]+$/;
const METHOD = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const SCHEME = /^[A-Za-z][A-Za-z0-9+\-.]*$/;
const STATUS = /^[1-9][0-9]{2}$/;
const DIGITS = /^[0-9]{1,16}$/;
/** The fields of one hop of HTTP/1 (RFC 9113 section 8.2.2). */
const CONNECTION_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

/** Before a message begins, and after its end; nothing is added to it. */
const NO_MESSAGE = new HeaderMap();

export class MessageFields implements FieldSink {
  readonly #limits: MessageLimits;
  #kind: MessageKind = 'request';
  #headers = NO_MESSAGE;
  #fault: MessageFault | undefined = undefined;
  #sawRegular = false;
  #bytes = 0;
  #count = 0;
  #cookies = '';
  #host: string | undefined = undefined;
  #isPathSet = false;
  /** -1 without a content-length. */
  contentLength = -1;

  constructor(limits: MessageLimits) {
    this.#limits = limits;
  }

  begin(kind: MessageKind): this {
    this.#kind = kind;
    this.#headers = new HeaderMap();
    this.#fault = undefined;
    this.#sawRegular = false;
    this.#bytes = 0;
    this.#count = 0;
    this.#cookies = '';
    this.#host = undefined;
    this.#isPathSet = false;
    this.contentLength = -1;
    return this;
  }

  /** What is wrong with the message, undefined when nothing is. */
  get fault(): MessageFault | undefined {
    return this.#fault;
  }

  onField(name: string, value: string): void {
    // The rest of a refused block is decoded for the table's sake alone.
    if (this.#fault !== undefined) return;
    this.#bytes += name.length + value.length;
    if (this.#bytes > this.#limits.maxHeaderBytes) return this.#tooLarge('too_large');
    if (++this.#count > this.#limits.maxHeaderCount) return this.#tooLarge('too_many');
    if (name.charCodeAt(0) === COLON) {
      if (this.#sawRegular || !this.#pseudo(name, value)) this.#invalid(INVALID_FIELD);
      return;
    }
    this.#sawRegular = true;
    if (!NAME.test(name) || BAD_VALUE.test(value)) return this.#invalid(INVALID_FIELD);
    this.#regular(name, value);
  }

  /** The whole message; call `fault` first. Undefined after a fault found only now. */
  finish(): HeaderMap | undefined {
    const headers = this.#headers;
    if (this.#kind === 'request') this.#finishRequest(headers);
    else if (this.#kind === 'response' && headers.status === 0) this.#invalid(VIOLATION);
    if (this.#cookies !== '') headers.addParsed('cookie', this.#cookies, 'cookie');
    this.#headers = NO_MESSAGE;
    return this.#fault === undefined ? headers : undefined;
  }

  #finishRequest(headers: HeaderMap): void {
    if (headers.authority === '' && this.#host !== undefined) headers.authority = this.#host;
    const isPlainConnect = headers.method === 'CONNECT' && headers.protocol === '';
    const { path } = headers;
    const hasTarget = isTarget(path, headers.method) && headers.scheme !== '';
    const lacksTarget = !this.#isPathSet && headers.scheme === '';
    if (headers.method === '' || headers.authority === '') this.#invalid(VIOLATION);
    else if (isPlainConnect ? !lacksTarget : !hasTarget) this.#invalid(VIOLATION);
    else if (headers.protocol !== '' && headers.method !== 'CONNECT') this.#invalid(VIOLATION);
  }

  #regular(name: string, value: string): void {
    if (CONNECTION_FIELDS.has(name)) return this.#invalid(INVALID_FIELD);
    switch (name) {
      case 'host':
        if (!AUTHORITY.test(value)) this.#invalid(INVALID_FIELD);
        if (this.#host !== undefined) return;
        this.#host = value;
        // It stands for the authority where there is none.
        if (this.#headers.authority === '') {
          this.#headers.pseudoOrder = withNext(this.#headers.pseudoOrder, ':authority');
        }
        return;
      case 'te':
        if (value.toLowerCase() !== 'trailers') this.#invalid(INVALID_FIELD);
        break;
      case 'cookie':
        this.#cookies = this.#cookies === '' ? value : `${this.#cookies}; ${value}`;
        return;
      case 'content-length':
        if (!this.#length(value)) return this.#invalid(INVALID_FIELD);
        // Behind a body it says nothing, and might be read as of the next message.
        if (this.#kind === 'trailers') return;
        break;
      default:
    }
    this.#headers.addParsed(name, value, name);
  }

  #length(value: string): boolean {
    if (!DIGITS.test(value) || this.contentLength >= 0) return false;
    this.contentLength = Number(value);
    return Number.isSafeInteger(this.contentLength);
  }

  /** False for a pseudo header that is unknown, comes twice, or has no place or sense here. */
  #pseudo(name: string, value: string): boolean {
    const headers = this.#headers;
    if (this.#kind === 'trailers' || value === '') return false;
    if (this.#kind === 'response') {
      if (name !== ':status' || headers.status !== 0 || !STATUS.test(value)) return false;
      headers.status = Number(value);
      return true;
    }
    return name === ':path' ? this.#path(name, value) : this.#requestPseudo(name, value);
  }

  #requestPseudo(name: string, value: string): boolean {
    const shape = REQUEST_PSEUDO.get(name);
    if (shape === undefined || this.#headers.has(name) || !shape.test(value)) return false;
    if (name === ':protocol' && !this.#limits.allowConnect) return false;
    this.#note(name, value);
    return true;
  }

  #path(name: string, value: string): boolean {
    if (this.#isPathSet || BAD_PATH.test(value)) return false;
    this.#isPathSet = true;
    this.#note(name, value);
    return true;
  }

  #note(name: string, value: string): void {
    const headers = this.#headers;
    headers.set(name, value);
    headers.pseudoOrder = withNext(headers.pseudoOrder, name);
  }

  #invalid(details: string): void {
    this.#fault ??= { kind: 'invalid', details };
  }

  #tooLarge(kind: 'too_large' | 'too_many'): void {
    this.#fault ??= { kind, details: 'http2.too_many_headers' };
  }
}

function isTarget(path: string, method: string): boolean {
  return path.charCodeAt(0) === SLASH || (path === '*' && method === 'OPTIONS');
}

/** But `:path`, whose form depends on the method. */
const REQUEST_PSEUDO: ReadonlyMap<string, RegExp> = new Map([
  [':method', METHOD],
  [':scheme', SCHEME],
  [':authority', AUTHORITY],
  [':protocol', METHOD],
]);

const COLON = 0x3a;
const SLASH = 0x2f;

/** What Envoy says of a client's reset; `isWhole`: its request had come to its end. */
export function resetDetails(code: number, isWhole: boolean): string {
  if (code === ErrorCode.noError && isWhole) return '';
  return code === ErrorCode.refusedStream ? 'http2.remote_refuse' : 'http2.remote_reset';
}
