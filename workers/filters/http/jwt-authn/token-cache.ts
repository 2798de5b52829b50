/**
 * Tokens that were verified, by their text: those used last stay. What was verified by other keys
 * is forgotten when the keys change.
 */
import type { ParsedToken } from './parse-token.ts';

export class TokenCache {
  readonly #tokens = new Map<string, ParsedToken>();
  readonly #tokensMax: number;
  readonly #tokenBytesMax: number;

  constructor(tokensMax: number, tokenBytesMax: number) {
    this.#tokensMax = tokensMax;
    this.#tokenBytesMax = tokenBytesMax;
  }

  get(text: string): ParsedToken | undefined {
    const token = this.#tokens.get(text);
    if (token === undefined || this.#tokens.size === 1) return token;
    this.#tokens.delete(text);
    this.#tokens.set(text, token);
    return token;
  }

  put(text: string, token: ParsedToken): void {
    if (text.length > this.#tokenBytesMax || this.#tokensMax === 0) return;
    this.#tokens.delete(text);
    this.#tokens.set(text, token);
    if (this.#tokens.size <= this.#tokensMax) return;
    for (const oldest of this.#tokens.keys()) {
      this.#tokens.delete(oldest);
      return;
    }
  }

  remove(text: string): void {
    this.#tokens.delete(text);
  }

  clear(): void {
    this.#tokens.clear();
  }
}
