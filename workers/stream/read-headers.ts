/** A header map as modules read it. */
import type { HeaderMap } from './header-map.ts';
import { headerName } from './header-names.ts';

export class ReadHeaders {
  protected readonly map: HeaderMap;

  constructor(map: HeaderMap) {
    this.map = map;
  }

  get(name: string): string | undefined {
    return this.map.get(fieldName(name));
  }

  getAll(name: string): readonly string[] {
    const wanted = fieldName(name);
    const values: string[] = [];
    this.map.forEach((each, value) => {
      if (each === wanted) values.push(value);
    });
    if (values.length > 0) return values;
    const only = this.map.get(wanted);
    return only === undefined ? [] : [only];
  }

  has(name: string): boolean {
    return this.map.has(fieldName(name));
  }

  *[Symbol.iterator](): Iterator<readonly [string, string]> {
    const { entries } = this.map;
    for (let at = 0; at < entries.length; at += 2) {
      yield [entries[at] ?? '', entries[at + 1] ?? ''];
    }
  }
}

/** As the map has it, whatever is written. */
export function fieldName(name: string): string {
  if (name.startsWith(':')) return name;
  return headerName(name)?.name ?? name.toLowerCase();
}
