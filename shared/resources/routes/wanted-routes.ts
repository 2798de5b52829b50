/** What a request asks a control plane for before it can be routed. Types only. */

export type WantedRoutes =
  /**
   * `routes` is what workers know the route configuration by, `host` the request's own authority.
   */
  | { readonly kind: 'virtual_host'; readonly routes: string; readonly host: string }
  /** `scopes` is what workers know the scopes by, `routes` the configuration of the scope. */
  | { readonly kind: 'scope'; readonly scopes: string; readonly routes: string };
