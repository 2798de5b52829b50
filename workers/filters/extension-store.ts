/** Settings of HTTP filters that came apart from their connection managers, by their keys. */
import type { HttpFilter } from '../../shared/resources/filters/http-filters.ts';

export class ExtensionStore {
  readonly #filters = new Map<string, HttpFilter>();

  get(key: string): HttpFilter | undefined {
    return this.#filters.get(key);
  }

  put(key: string, filter: HttpFilter): void {
    this.#filters.set(key, filter);
  }

  remove(key: string): void {
    this.#filters.delete(key);
  }
}
