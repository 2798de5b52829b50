/**
 * The query parameters of a path, taken apart and put together again as Envoy does it: sorted by
 * name, neither decoded nor encoded. Texts have one character per byte.
 */
import { percentDecode } from './percent-encoding.ts';

export class QueryParameters {
  readonly #path: string;
  readonly #values = new Map<string, string[]>();

  constructor(path: string) {
    const mark = path.indexOf('?');
    this.#path = mark < 0 ? path : path.slice(0, mark);
    const query = mark < 0 ? '' : path.slice(mark + 1);
    if (query === '') return;
    for (const parameter of query.split('&')) {
      const equals = parameter.indexOf('=');
      const name = equals < 0 ? parameter : parameter.slice(0, equals);
      const value = equals < 0 ? '' : parameter.slice(equals + 1);
      const known = this.#values.get(name);
      if (known === undefined) this.#values.set(name, [value]);
      else known.push(value);
    }
  }

  /** The first value, as it is written. */
  get(name: string): string | undefined {
    return this.#values.get(name)?.[0];
  }

  set(name: string, value: string): void {
    this.#values.set(name, [value]);
  }

  remove(name: string): void {
    this.#values.delete(name);
  }

  /** With its question mark; empty when there are none. */
  toQuery(): string {
    const names = [...this.#values.keys()].toSorted();
    const query = names.flatMap((name) =>
      (this.#values.get(name) ?? []).map((value) => `${name}=${value}`),
    );
    return query.length === 0 ? '' : `?${query.join('&')}`;
  }

  /** The path with what is there now. */
  toPath(): string {
    return this.#path + this.toQuery();
  }
}

/** The first value of a parameter in the order of the path, both decoded. */
export function decodedQueryValue(path: string, name: string): string | undefined {
  const mark = path.indexOf('?');
  if (mark < 0) return undefined;
  for (const parameter of path.slice(mark + 1).split('&')) {
    const equals = parameter.indexOf('=');
    const given = equals < 0 ? parameter : parameter.slice(0, equals);
    if (percentDecode(given) !== name) continue;
    return equals < 0 ? '' : percentDecode(parameter.slice(equals + 1));
  }
  return undefined;
}

/** The path without a parameter; the others are in the order of their names. */
export function withoutParameter(path: string, name: string): string {
  if (!path.includes('?')) return path;
  const parameters = new QueryParameters(path);
  parameters.remove(name);
  return parameters.toPath();
}
