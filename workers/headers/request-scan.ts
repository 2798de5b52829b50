/**
 * One pass over a request's headers for the header policy: finds the values that its next steps
 * need and the headers that may have to go. One object serves all requests of a manager; what it
 * found is valid until the next `read`.
 */
import type { HeaderMap } from '../stream/header-map.ts';
import {
  FIRST_LETTERS,
  FORWARDED_FOR,
  FORWARDED_PROTO,
  REFERER,
  REQUEST_ID,
  REQUEST_NAMES,
} from './request-names.ts';
import { join } from './request-refusals.ts';
import { isValidReferer } from './request-sanitizing.ts';

export class RequestScan {
  forwardedFor: string | undefined;
  forwardedProto: string | undefined;
  requestId: string | undefined;
  /** A bit for each meaning of a header that may have to be removed. */
  removable = 0;
  #repeated = false;
  #referers = 0;

  read(headers: HeaderMap): void {
    this.forwardedFor = undefined;
    this.forwardedProto = undefined;
    this.requestId = undefined;
    this.removable = 0;
    this.#repeated = false;
    this.#referers = 0;
    const { entries } = headers;
    for (let at = 0; at < entries.length; at += 2) {
      const name = entries[at] ?? '';
      if (FIRST_LETTERS[name.charCodeAt(0)] !== 1) continue;
      const meaning = REQUEST_NAMES.get(name);
      if (meaning !== undefined) this.#note(meaning, entries[at + 1] ?? '');
    }
    if (this.#repeated) this.#joinRepeated(headers);
  }

  #note(meaning: number, value: string): void {
    switch (meaning) {
      case FORWARDED_FOR:
        if (this.forwardedFor !== undefined) this.#repeated = true;
        this.forwardedFor = value;
        break;
      case FORWARDED_PROTO:
        if (this.forwardedProto !== undefined) this.#repeated = true;
        this.forwardedProto = value;
        break;
      case REQUEST_ID:
        if (this.requestId !== undefined) this.#repeated = true;
        this.requestId = value;
        break;
      case REFERER:
        this.#referers += 1;
        if (this.#referers > 1 || !isValidReferer(value)) this.removable |= 1 << REFERER;
        break;
      default:
        this.removable |= 1 << meaning;
    }
  }

  #joinRepeated(headers: HeaderMap): void {
    this.forwardedFor = join(headers, 'x-forwarded-for');
    this.forwardedProto = join(headers, 'x-forwarded-proto');
    this.requestId = join(headers, 'x-request-id');
  }
}
