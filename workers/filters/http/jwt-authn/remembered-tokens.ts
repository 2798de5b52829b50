/**
 * Tokens whose signature was verified, by their text. A client sends the same token again and
 * again, so the last one is compared first; of the others those that were used lately stay.
 */
import type { ParsedToken } from './parse-token.ts';

/** The size of each of two generations; the older one goes when the younger is full. */
const TOKENS_MAX = 256;
/** Longer tokens are verified each time. */
const TOKEN_BYTES_MAX = 4096;

export class RememberedTokens {
  #lastText = '';
  #last: ParsedToken | undefined = undefined;
  #young = new Map<string, ParsedToken>();
  #old = new Map<string, ParsedToken>();

  get(text: string): ParsedToken | undefined {
    if (text === this.#lastText) return this.#last;
    const token = this.#young.get(text) ?? this.#old.get(text);
    if (token !== undefined) this.put(text, token);
    return token;
  }

  put(text: string, token: ParsedToken): void {
    if (text.length > TOKEN_BYTES_MAX) return;
    this.#lastText = text;
    this.#last = token;
    if (this.#young.has(text)) return;
    if (this.#young.size >= TOKENS_MAX) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(text, token);
  }

  clear(): void {
    this.#lastText = '';
    this.#last = undefined;
    this.#young.clear();
    this.#old.clear();
  }
}
