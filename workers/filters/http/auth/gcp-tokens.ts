/** Tokens of the metadata server: those that are remembered, and what it says of access tokens. */
import type { GcpAudience } from '../../../../shared/resources/clusters/gcp-audience.ts';
import { memberOf } from '../../../../shared/text/dictionary.ts';

interface Remembered {
  readonly token: string;
  readonly endsAtMs: number;
}

/** A token that ends so soon is not used any more: clocks differ. */
const SKEW_MS = 60_000;
const HEADER_TEXT = /^[!-~]+$/;

/** Identity tokens by their audience; the one that was used longest ago makes room. */
export class RememberedTokens {
  readonly #size: number;
  readonly #tokens = new Map<string, Remembered>();

  constructor(size: number) {
    this.#size = size;
  }

  /** Access tokens are asked for each time, as in Envoy. */
  isKept({ kind }: GcpAudience): boolean {
    return this.#size > 0 && kind === 'identity';
  }

  get(audience: GcpAudience, nowMs: number): string | undefined {
    if (audience.kind !== 'identity') return undefined;
    const { url } = audience;
    const found = this.#tokens.get(url);
    if (found === undefined) return undefined;
    this.#tokens.delete(url);
    if (found.endsAtMs - SKEW_MS <= nowMs) return undefined;
    this.#tokens.set(url, found);
    return found.token;
  }

  put(audience: GcpAudience, token: string, endsAtMs: number, nowMs: number): void {
    if (audience.kind !== 'identity' || !this.isKept(audience)) return;
    if (endsAtMs - SKEW_MS <= nowMs) return;
    this.#tokens.set(audience.url, { token, endsAtMs });
    const [oldest] = this.#tokens.keys();
    if (this.#tokens.size > this.#size && oldest !== undefined) this.#tokens.delete(oldest);
  }
}

/** Undefined: the answer holds none that a header could carry. */
export function accessTokenOf(body: Buffer): string | undefined {
  try {
    const token = memberOf(JSON.parse(body.toString()), 'access_token');
    return typeof token === 'string' && HEADER_TEXT.test(token) ? token : undefined;
  } catch {
    return undefined;
  }
}
