/**
 * What transport sockets do with the bytes of a connection, as workers receive it: one optional
 * member per layer. A socket that stands around another adds its layer to the other's.
 * Source: envoy.extensions.transport_sockets.
 */
import type { ProxyProtocolSender } from './clusters/proxy-protocol.ts';
import type { SocketTap } from './tap.ts';
import type { DownstreamTls, UpstreamTls } from './tls.ts';

/** What connections of a filter chain do. */
export interface DownstreamSocketOptions {
  /** Absent: plain bytes. */
  readonly tls?: DownstreamTls;
  /** What looks at the bytes of its connections, outermost first. */
  readonly taps?: readonly SocketTap[];
}

/** What connections to hosts do before they carry their own bytes. */
export interface UpstreamSocketOptions {
  /** Absent: plain bytes. */
  readonly tls?: UpstreamTls;
  /** Absent: connections begin with their own bytes. */
  readonly proxyProtocol?: ProxyProtocolSender;
  /** What of their host's or cluster's metadata goes with connections to internal listeners. */
  readonly handedOn?: readonly { readonly of: 'host' | 'cluster'; readonly name: string }[];
  /** What looks at the bytes of its connections, outermost first. */
  readonly taps?: readonly SocketTap[];
}
