/**
 * Routes that are chosen by what a request says in its headers: each scope has a key and a route
 * configuration, and a key is made of every request. Texts are byte strings.
 * Source: envoy.extensions.filters.network.http_connection_manager.v3.ScopedRoutes. Types only.
 */
import type { RouteConfigurationResource } from './route.ts';

/** How one part of a key is taken from a header. */
export interface ScopeKeyFragment {
  /** Lower case. */
  readonly header: string;
  /** Between the elements of the header's value; empty: the value is one element. */
  readonly separator: string;
  readonly element:
    | { readonly kind: 'index'; readonly index: number }
    /** The value of the element with this key. */
    | { readonly kind: 'key'; readonly key: string; readonly separator: string };
}

/** A scope whose route configuration came apart. */
export interface NamedScope {
  readonly key: readonly string[];
  /** What workers know the route configuration by. */
  readonly routes: string;
}

export interface InlineScope {
  readonly key: readonly string[];
  readonly config: RouteConfigurationResource;
}

export interface ScopedRoutes {
  readonly kind: 'scoped';
  readonly fragments: readonly ScopeKeyFragment[];
  readonly scopes:
    | { readonly kind: 'inline'; readonly scopes: readonly InlineScope[] }
    /** What workers know the scopes by. */
    | { readonly kind: 'named'; readonly name: string };
}
