/** The query of an admin request (or its form body), decoded as Envoy decodes it. */

export class Query {
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(values: ReadonlyMap<string, readonly string[]>) {
    this.#values = values;
  }

  /** The first value of the name. A name without `=` has the value ''. */
  first(name: string): string | undefined {
    return this.#values.get(name)?.[0];
  }

  /** The first value, undefined also when it is empty. */
  nonEmpty(name: string): string | undefined {
    const value = this.first(name);
    return value === '' ? undefined : value;
  }

  /** All values of the name, in their order. */
  all(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** Number of different names. */
  get size(): number {
    return this.#values.size;
  }

  /** Each name with its first value, in the order of their first appearance. */
  *entries(): Generator<readonly [string, string]> {
    for (const [name, values] of this.#values) yield [name, values[0] ?? ''];
  }
}

/**
 * Parses `name=value&name=value`. A name without `=` is not decoded; `+` stays `+`, since the
 * reference knows percent-encoding only, so that a regular expression may hold it.
 */
export function parseQuery(text: string): Query {
  const values = new Map<string, string[]>();
  for (const part of text === '' ? [] : text.split('&')) {
    const equal = part.indexOf('=');
    const name = equal === -1 ? part : percentDecode(part.slice(0, equal));
    const value = equal === -1 ? '' : percentDecode(part.slice(equal + 1));
    const list = values.get(name);
    if (list === undefined) values.set(name, [value]);
    else list.push(value);
  }
  return new Query(values);
}

/** Decodes `%XX` to bytes and those as UTF-8; a `%` without two digits behind it stays as it is. */
function percentDecode(text: string): string {
  if (!text.includes('%')) return text;
  const bytes: number[] = [];
  const source = Buffer.from(text, 'latin1');
  for (let at = 0; at < source.length; at++) {
    const byte = source[at] ?? 0;
    const code = byte === 0x25 ? hexPair(text, at + 1) : undefined;
    if (code === undefined) {
      bytes.push(byte);
    } else {
      bytes.push(code);
      at += 2;
    }
  }
  return Buffer.from(bytes).toString('utf8');
}

function hexPair(text: string, at: number): number | undefined {
  const digits = text.slice(at, at + 2);
  return /^[0-9A-Fa-f]{2}$/.test(digits) ? parseInt(digits, 16) : undefined;
}
