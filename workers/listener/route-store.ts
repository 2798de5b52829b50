/** The named route configurations of this worker, compiled, and the sources that refer to them. */
import type { RouteSource } from '../http/conn-manager/manager.ts';
import type { RouteTable } from '../routing/types.ts';

export class RouteStore {
  readonly #tables = new Map<string, RouteTable>();

  put(key: string, table: RouteTable): void {
    this.#tables.set(key, table);
  }

  remove(key: string): void {
    this.#tables.delete(key);
  }

  /** Follows the configuration of that key, whenever it comes, changes or goes. */
  sourceOf(key: string): RouteSource {
    const tables = this.#tables;
    return {
      get table() {
        return tables.get(key);
      },
    };
  }
}
