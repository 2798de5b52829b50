/** What all listener filters have as workers receive them. */

export interface ListenerFilterResource<Kind extends string = string> {
  readonly kind: Kind;
  /** Connections that it does not look at. */
  readonly disabled?: PortPredicate;
}

/** Which connections it means, by the port that they were made to. */
export type PortPredicate =
  | { readonly kind: 'any' }
  /** `end` is no longer in it. */
  | { readonly kind: 'range'; readonly start: number; readonly end: number }
  | { readonly kind: 'not'; readonly rule: PortPredicate }
  | { readonly kind: 'and' | 'or'; readonly rules: readonly PortPredicate[] };
