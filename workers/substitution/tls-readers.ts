/** Substitution commands about TLS on either side; without TLS they all print as missing. */
import type { StreamInfo, TlsInfo } from '../http/stream-info.ts';
import { plain, present, unknown } from './reader-factory.ts';
import type { ReaderFactory } from './reader-factory.ts';

type SideOf = (info: StreamInfo) => TlsInfo | undefined;
type FactOf = (tls: TlsInfo) => string | undefined;

const downstream: SideOf = (info) => info.connection.tls;
const upstream: SideOf = (info) => info.upstreamTls;

const version: FactOf = (tls) => tls.version;
const cipher: FactOf = (tls) => tls.cipherSuite;
const sessionId: FactOf = (tls) => tls.sessionId;
const peerUriSans: FactOf = (tls) => tls.peerUriSans.join(',');
const peerDnsSans: FactOf = (tls) => tls.peerDnsSans.join(',');
const peerSubject: FactOf = (tls) => tls.peerSubject;
const peerIssuer: FactOf = (tls) => tls.peerIssuer;
const peerCertificate: FactOf = (tls) =>
  tls.peerCertificatePem === undefined ? undefined : encodeURIComponent(tls.peerCertificatePem);
const localUriSans: FactOf = (tls) => tls.localUriSans.join(',');
const localDnsSans: FactOf = (tls) => tls.localDnsSans.join(',');

export const TLS_READERS = {
  DOWNSTREAM_TLS_VERSION: fact(downstream, version),
  DOWNSTREAM_TLS_CIPHER: fact(downstream, cipher),
  DOWNSTREAM_TLS_SESSION_ID: fact(downstream, sessionId),
  DOWNSTREAM_TLS_GROUP: unknown,
  DOWNSTREAM_PEER_URI_SAN: fact(downstream, peerUriSans),
  DOWNSTREAM_PEER_DNS_SAN: fact(downstream, peerDnsSans),
  DOWNSTREAM_PEER_IP_SAN: unknown,
  DOWNSTREAM_PEER_EMAIL_SAN: unknown,
  DOWNSTREAM_PEER_OTHERNAME_SAN: unknown,
  DOWNSTREAM_PEER_SUBJECT: fact(downstream, peerSubject),
  DOWNSTREAM_PEER_ISSUER: fact(downstream, peerIssuer),
  DOWNSTREAM_PEER_ISSUER_SERIAL: unknown,
  DOWNSTREAM_PEER_ISSUER_FINGERPRINT_256: unknown,
  DOWNSTREAM_PEER_SERIAL: fact(downstream, (tls) => tls.peerSerial),
  DOWNSTREAM_PEER_FINGERPRINT_1: unknown,
  DOWNSTREAM_PEER_FINGERPRINT_256: fact(downstream, (tls) => tls.peerFingerprint256),
  DOWNSTREAM_PEER_CHAIN_FINGERPRINTS_1: unknown,
  DOWNSTREAM_PEER_CHAIN_FINGERPRINTS_256: unknown,
  DOWNSTREAM_PEER_CHAIN_SERIALS: unknown,
  DOWNSTREAM_PEER_CERT: fact(downstream, peerCertificate),
  DOWNSTREAM_PEER_CERT_V_START: unknown,
  DOWNSTREAM_PEER_CERT_V_END: unknown,
  DOWNSTREAM_LOCAL_URI_SAN: fact(downstream, localUriSans),
  DOWNSTREAM_LOCAL_DNS_SAN: fact(downstream, localDnsSans),
  DOWNSTREAM_LOCAL_IP_SAN: unknown,
  DOWNSTREAM_LOCAL_EMAIL_SAN: unknown,
  DOWNSTREAM_LOCAL_OTHERNAME_SAN: unknown,
  DOWNSTREAM_LOCAL_SUBJECT: fact(downstream, (tls) => tls.localSubject),
  TLS_JA3_FINGERPRINT: unknown,
  TLS_JA4_FINGERPRINT: unknown,
  UPSTREAM_TLS_VERSION: fact(upstream, version),
  UPSTREAM_TLS_CIPHER: fact(upstream, cipher),
  UPSTREAM_TLS_SESSION_ID: fact(upstream, sessionId),
  UPSTREAM_TLS_GROUP: unknown,
  UPSTREAM_SERVER_NAME: unknown,
  UPSTREAM_PEER_URI_SAN: fact(upstream, peerUriSans),
  UPSTREAM_PEER_DNS_SAN: fact(upstream, peerDnsSans),
  UPSTREAM_PEER_IP_SAN: unknown,
  UPSTREAM_PEER_SUBJECT: fact(upstream, peerSubject),
  UPSTREAM_PEER_ISSUER: fact(upstream, peerIssuer),
  UPSTREAM_PEER_CERT: fact(upstream, peerCertificate),
  UPSTREAM_PEER_CERT_V_START: unknown,
  UPSTREAM_PEER_CERT_V_END: unknown,
  UPSTREAM_LOCAL_URI_SAN: fact(upstream, localUriSans),
  UPSTREAM_LOCAL_DNS_SAN: fact(upstream, localDnsSans),
  UPSTREAM_LOCAL_IP_SAN: unknown,
} satisfies Record<string, ReaderFactory>;

function fact(sideOf: SideOf, factOf: FactOf): ReaderFactory {
  return plain((info) => {
    const tls = sideOf(info);
    return tls === undefined ? undefined : present(factOf(tls));
  });
}
