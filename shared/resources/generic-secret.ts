/** A secret that is only bytes: a password, a key, a token. */
export type GenericSecret =
  /** From the bootstrap. */
  | { readonly kind: 'value'; readonly value: Uint8Array }
  /** From a control plane or a file, by the key that it has in workers. */
  | { readonly kind: 'named'; readonly key: string };
