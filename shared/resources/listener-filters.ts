/** Listener filters as workers receive them, in the order in which they look at a connection. */

export interface ProxyProtocolFilter {
  readonly kind: 'proxy_protocol';
  readonly allowsWithout: boolean;
  readonly disallowedVersions: readonly ('v1' | 'v2')[];
  readonly statPrefix: string;
}

export type ListenerFilter =
  | { readonly kind: 'tls_inspector' | 'http_inspector' | 'original_dst' }
  | ProxyProtocolFilter;
