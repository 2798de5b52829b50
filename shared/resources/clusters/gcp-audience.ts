/** Whom a token of Google's metadata server is for. Types only. */
export type GcpAudience =
  /** A service, by its address: the token says who this server is. */
  | { readonly kind: 'identity'; readonly url: string }
  /** Google's own services, for these scopes. */
  | { readonly kind: 'access'; readonly scopes: readonly string[] };
