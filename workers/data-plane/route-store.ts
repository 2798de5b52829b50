/** The named route configurations and scopes of this worker, and the sources that refer to them. */
import type { NamedScope, ScopedRoutes } from '../../shared/resources/routes/scoped-routes.ts';
import type { WantedRoutes } from '../../shared/resources/routes/wanted-routes.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { RouteSource } from '../manager/manager.ts';
import { joinScopeKey, scopeKeyOf } from '../routing/scope-key.ts';
import type { RouteTable } from '../stream/route.ts';

export class RouteStore {
  readonly #tables = new Map<string, RouteTable>();
  /** What lets go of what is held for a table. */
  readonly #releases = new Map<string, () => void>();
  /** By their name: names of route configurations by key. */
  readonly #scopes = new Map<string, ReadonlyMap<string, string>>();

  /** `release` is called when the table is replaced or removed. */
  put(key: string, table: RouteTable, release: () => void): void {
    this.#releases.get(key)?.();
    this.#releases.set(key, release);
    this.#tables.set(key, table);
  }

  remove(key: string): void {
    this.#releases.get(key)?.();
    this.#releases.delete(key);
    this.#tables.delete(key);
  }

  putScopes(name: string, scopes: readonly NamedScope[]): void {
    const entries = scopes.map(({ key, routes }) => [joinScopeKey(key), routes] as const);
    this.#scopes.set(name, new Map(entries));
  }

  removeScopes(name: string): void {
    this.#scopes.delete(name);
  }

  /** Follows the configuration of that key, whenever it comes, changes or goes. */
  sourceOf(key: string): RouteSource {
    const tables = this.#tables;
    return {
      tableFor: () => tables.get(key),
      missingFor: (headers) => missingHost(key, tables.get(key), headers),
    };
  }

  /**
   * Follows scopes and their configurations; `build` makes the tables of those that stand inline.
   */
  scopedSourceOf(
    { fragments, scopes }: ScopedRoutes,
    build: (scope: InlineScopes[number]) => RouteTable,
  ): RouteSource {
    if (scopes.kind === 'inline') {
      const tables = new Map(scopes.scopes.map((each) => [joinScopeKey(each.key), build(each)]));
      return {
        tableFor: (headers) => {
          const key = scopeKeyOf(fragments, headers);
          return key === undefined ? undefined : tables.get(key);
        },
      };
    }
    const { name } = scopes;
    const routesFor = (headers: HeaderMap): string | undefined => {
      const key = scopeKeyOf(fragments, headers);
      return key === undefined ? undefined : this.#scopes.get(name)?.get(key);
    };
    return {
      tableFor: (headers) => {
        const routes = routesFor(headers);
        return routes === undefined ? undefined : this.#tables.get(routes);
      },
      missingFor: (headers) => {
        const routes = routesFor(headers);
        if (routes === undefined) return undefined;
        const table = this.#tables.get(routes);
        if (table === undefined) return { kind: 'scope', scopes: name, routes };
        return missingHost(routes, table, headers);
      },
    };
  }
}

function missingHost(
  routes: string,
  table: RouteTable | undefined,
  headers: HeaderMap,
): WantedRoutes | undefined {
  if (table?.isOnDemand !== true || table.hasHost(headers)) return undefined;
  return { kind: 'virtual_host', routes, host: headers.authority };
}

type InlineScopes = Extract<ScopedRoutes['scopes'], { readonly kind: 'inline' }>['scopes'];
