/**
 * TLS of listeners and clusters as workers receive it: names checked, files read, keys decrypted.
 * Source: envoy.extensions.transport_sockets.tls.v3.
 */
import type { StringMatcher } from './routes/matchers.ts';

/** As node:tls names them. */
export type TlsVersion = 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3';

export interface TlsParameters {
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  /** For OpenSSL, the suites of TLS 1.3 included. */
  readonly ciphers: string;
  /** For OpenSSL: names between colons. */
  readonly curves: string;
  readonly signatureAlgorithms?: string;
}

/** A certificate chain with its key. */
export interface TlsCertificate {
  /** PEM, the leaf first. */
  readonly chain: string;
  /** PEM without a passphrase. */
  readonly key: string;
  /** Where the chain came from, as `/certs` shows it. */
  readonly path: string;
  /** The secret that it came as; absent: it stands in the configuration without a name. */
  readonly secretName?: string;
  /** DNS names that the leaf is for, lower case; its common name when it has none. */
  readonly names: readonly string[];
}

export type SanType = 'DNS' | 'URI' | 'EMAIL' | 'IP_ADDRESS' | 'OTHER_NAME';

export interface SanMatcher {
  readonly type: SanType;
  /** In numbers, of an OTHER_NAME. */
  readonly oid?: string;
  readonly matcher: StringMatcher;
}

/** How a peer's certificate is judged. */
export interface TlsValidation {
  /** PEM; absent: the chain is not verified. */
  readonly trustedCa?: string;
  /** The secret that it came as. */
  readonly secretName?: string;
  /** Where `trustedCa` came from, as `/certs` shows it. */
  readonly caPath: string;
  /** PEM. */
  readonly crl?: string;
  /** How far from the peer's certificate its authority may stand; 0 as 1, as in Envoy. */
  readonly maxVerifyDepth?: number;
  readonly allowExpired: boolean;
  readonly acceptUntrusted: boolean;
  /** Any of them has to match; empty: none is asked for. */
  readonly sanMatchers: readonly SanMatcher[];
  /** SHA-256 of the certificate, lower case hex. */
  readonly certificateHashes: readonly string[];
  /** SHA-256 of the public key, base64. */
  readonly spkiHashes: readonly string[];
  /**
   * The domains of SPIFFE: `trustedCa` holds the authorities of all, each of which vouches for its
   * own alone.
   */
  readonly trustDomains?: readonly TrustDomain[];
}

export interface TrustDomain {
  readonly name: string;
  /** PEM. */
  readonly bundle: string;
}

export interface TlsContext {
  readonly parameters: TlsParameters;
  /** Clients alone may permit it: a server may begin a second handshake in TLS 1.2. */
  readonly allowsRenegotiation?: boolean;
  /** Offered or accepted protocols that this build speaks. */
  readonly alpn: readonly string[];
  /** Those that the configuration itself holds. */
  readonly certificates: readonly TlsCertificate[];
  /** Keys of the certificates that come apart from the configuration, as secrets. */
  readonly certificateSecrets: readonly string[];
  readonly validation?: TlsValidation;
  /** Key of a secret that is laid over `validation`. */
  readonly validationSecret?: string;
  /** Key of the secret with a server's ticket keys. */
  readonly ticketSecret?: string;
}

/** What a control plane or a watched file sends apart from the resources that use it. */
export type TlsSecret =
  | { readonly kind: 'certificate'; readonly certificate: TlsCertificate }
  | { readonly kind: 'validation'; readonly validation: TlsValidation }
  /** As `DownstreamTls.ticketKeys`. */
  | { readonly kind: 'tickets'; readonly ticketKeys: string }
  /** A secret of filters: a password, a key, a token. */
  | { readonly kind: 'generic'; readonly value: Uint8Array };

export interface DownstreamTls extends TlsContext {
  readonly requireClientCertificate: boolean;
  readonly requireServerName: boolean;
  readonly preferClientCiphers: boolean;
  /** Base64 of the 48 bytes that are made of the configured keys; absent: the server's own. */
  readonly ticketKeys?: string;
  readonly usesTickets: boolean;
  readonly sessionTimeoutS: number;
}

export interface UpstreamTls extends TlsContext {
  /** Empty: none is sent. */
  readonly serverName: string;
  /** The host's own name is sent as server name. */
  readonly autoHostServerName: boolean;
  /** The server name that was sent has to be among the certificate's DNS names. */
  readonly autoSanValidation: boolean;
  /** Sessions kept for resumption; 0: none. */
  readonly maxSessionKeys: number;
}
