/** The named route configurations of this worker, compiled, and the sources that refer to them. */
import type { RouteSource } from '../http/conn-manager/manager.ts';
import type { RouteTable } from '../routing/types.ts';

export class RouteStore {
  readonly #tables = new Map<string, RouteTable>();

  put(table: RouteTable): void {
    this.#tables.set(table.name, table);
  }

  remove(name: string): void {
    this.#tables.delete(name);
  }

  /** Follows the configuration of that name, whenever it comes, changes or goes. */
  sourceOf(name: string): RouteSource {
    const tables = this.#tables;
    return {
      get table() {
        return tables.get(name);
      },
    };
  }
}
