/** A path's query parameters as Envoy changes them: sorted by name, neither decoded nor encoded. */

export class QueryParameters {
  readonly #path: string;
  readonly #values = new Map<string, string[]>();

  constructor(path: string) {
    const mark = path.indexOf('?');
    this.#path = mark < 0 ? path : path.slice(0, mark);
    if (mark < 0) return;
    for (const parameter of path.slice(mark + 1).split('&')) {
      if (parameter === '') continue;
      const equals = parameter.indexOf('=');
      const name = equals < 0 ? parameter : parameter.slice(0, equals);
      const value = equals < 0 ? '' : parameter.slice(equals + 1);
      const known = this.#values.get(name);
      if (known === undefined) this.#values.set(name, [value]);
      else known.push(value);
    }
  }

  set(name: string, value: string): void {
    this.#values.set(name, [value]);
  }

  remove(name: string): void {
    this.#values.delete(name);
  }

  /** The path with what is there now. */
  toPath(): string {
    const names = [...this.#values.keys()].toSorted();
    const query = names.flatMap((name) =>
      (this.#values.get(name) ?? []).map((value) => `${name}=${value}`),
    );
    return query.length === 0 ? this.#path : `${this.#path}?${query.join('&')}`;
  }
}
