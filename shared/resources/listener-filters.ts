/** Listener filters as workers receive them, in the order in which they look at a connection. */

import type { TlvChoice } from './clusters/proxy-protocol.ts';

export interface ProxyProtocolFilter {
  readonly kind: 'proxy_protocol';
  readonly allowsWithout: boolean;
  readonly disallowedVersions: readonly ('v1' | 'v2')[];
  readonly statPrefix: string;
  /** Which additions of version 2 become metadata of the connection. */
  readonly rules: readonly TlvRule[];
  /** Which of them may go on to hosts; absent: none. */
  readonly passedOn?: TlvChoice;
}

interface TlvRule {
  readonly type: number;
  readonly namespace: string;
  readonly key: string;
  readonly encoding: 'utf8' | 'base64';
}

/** Which connections it means, by the port that they were made to. */
export type PortPredicate =
  | { readonly kind: 'any' }
  /** `end` is no longer in it. */
  | { readonly kind: 'range'; readonly start: number; readonly end: number }
  | { readonly kind: 'not'; readonly rule: PortPredicate }
  | { readonly kind: 'and' | 'or'; readonly rules: readonly PortPredicate[] };

export type ListenerFilter = (
  | { readonly kind: 'tls_inspector' | 'http_inspector' | 'original_dst' }
  | ProxyProtocolFilter
) & {
  /** Connections that it does not look at. */
  readonly disabled?: PortPredicate;
};
