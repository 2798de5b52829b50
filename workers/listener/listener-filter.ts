/** What listener filters see of a connection before its filter chain is chosen. */
import type { PortPredicate } from '../../shared/resources/filters/listener-filter.ts';
import type { Address, ConnectionInfo } from '../net/connection-info.ts';

/** Written by filters, read when the chain is chosen. */
export interface EarlyInfo {
  serverName: string;
  transportProtocol: string;
  applicationProtocols: readonly string[];
  /** What a proxy before us said; undefined: the socket's own. */
  remote: Address | undefined;
  local: Address | undefined;
  metadata: ConnectionInfo['dynamicMetadata'];
  proxyTlvs: ConnectionInfo['proxyTlvs'];
  /** The fingerprints of TLS clients, where a filter makes them. */
  fingerprints: ConnectionInfo['fingerprints'];
}

export type FilterVerdict =
  /** Call again when there are more bytes. */
  | 'more'
  | 'done'
  /** The connection is to be closed. */
  | 'refuse'
  /** So many bytes were the filter's and are gone; it is done. */
  | { readonly consumed: number };

export interface ListenerFilterRunner {
  /** Connections that it does not look at; absent: it looks at all. */
  readonly disabled?: PortPredicate | undefined;
  /** Asked once, when all filters before it are done; false closes the connection. */
  accept?(connection: ConnectionInfo): boolean;
  /**
   * `data` is everything that was read and not consumed; called again while `more`. Absent: it needs
   * no bytes.
   */
  inspect?(data: Buffer, facts: EarlyInfo): FilterVerdict;
  release(): void;
}
