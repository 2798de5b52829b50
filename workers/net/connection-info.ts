/**
 * What is known of one connection: its addresses, its TLS, and the listener that it came through.
 */
import type { Struct } from '../../shared/text/dictionary.ts';
import type { FilterState } from './filter-state.ts';

/** `text` is `address:port`, `[address]:port` or the socket's path, as Envoy prints it. */
export interface Address {
  readonly kind: 'ip' | 'pipe';
  /** Without brackets; the path for `pipe`. */
  readonly ip: string;
  /** 0 for `pipe`. */
  readonly port: number;
  readonly text: string;
}

/** Certificate facts of one side of a TLS connection; undefined members mean "not there". */
export interface TlsInfo {
  readonly version: string;
  readonly cipherSuite: string;
  readonly sessionId: string;
  /** What ALPN agreed on; empty or absent where nothing was. */
  readonly alpn?: string;
  /** The key exchange's group, such as `X25519`; undefined when it is not known. */
  readonly group: string | undefined;
  readonly peer: CertificateInfo | undefined;
  /** The peer's certificate was verified against a trusted authority. */
  readonly isPeerVerified: boolean;
  readonly local: CertificateInfo | undefined;
}

/** What is said of one certificate; names are in the certificate's order. */
export interface CertificateInfo {
  /** RFC 2253 form. */
  readonly subject: string;
  readonly issuer: string;
  /** Lower case hex without separators. */
  readonly serial: string;
  readonly fingerprint1: string;
  readonly fingerprint256: string;
  readonly pem: string;
  readonly uriSans: readonly string[];
  readonly dnsSans: readonly string[];
  readonly ipSans: readonly string[];
  readonly emailSans: readonly string[];
  /** NaN where it has no such time. */
  readonly validFromMs: number;
  readonly validToMs: number;
  /** The certificate that signed this one, as far as the peer sent it or it is trusted. */
  readonly issuedBy: CertificateInfo | undefined;
}

/** An addition to the header of the PROXY protocol. */
export interface ProxyTlv {
  readonly type: number;
  readonly value: Buffer;
}

/** Facts of a downstream connection, shared by its streams. */
export interface ConnectionInfo {
  /** Unique within the worker, counted from 1. */
  readonly id: number;
  readonly remoteAddress: Address;
  /** The socket's own peer, whatever a listener filter put into `remoteAddress`. */
  readonly directRemoteAddress: Address;
  readonly localAddress: Address;
  /** The local address where the socket's own was overridden. */
  readonly originalDestination?: Address | undefined;
  readonly listenerName: string;
  readonly direction: 'UNSPECIFIED' | 'INBOUND' | 'OUTBOUND';
  filterChainName: string;
  /**
   * As the client sent it, in lower case, a byte in each character; `shownServerName` for output.
   */
  requestedServerName: string;
  /** `raw_buffer` or `tls`, where a listener filter has looked. */
  transportProtocol?: string;
  /** What the client offers, in its order. */
  applicationProtocols?: readonly string[];
  tls: TlsInfo | undefined;
  /** Why the connection ended, such as a protocol error's name; empty until then. */
  terminationDetails: string;
  transportFailureReason: string;
  /** Where a network filter sends the connection, whatever the proxy behind it has configured. */
  upstreamCluster?: string;
  /** What network filters keep of the connection; made by the first that writes. */
  filterState?: FilterState;
  /** What the proxy before us added to its PROXY header, as far as it may go on. */
  proxyTlvs?: readonly ProxyTlv[] | undefined;
  /** The fingerprints of a TLS client, where a listener filter makes them. */
  fingerprints?: { readonly ja3?: string; readonly ja4?: string } | undefined;
  /** By filter name: what was known of the connection before its filter chain. */
  dynamicMetadata?: Map<string, Struct> | undefined;
}
