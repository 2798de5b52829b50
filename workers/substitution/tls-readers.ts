/** Substitution commands about TLS on either side; without TLS they all print as missing. */
import type { CertificateInfo, TlsInfo } from '../net/connection-info.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { plain, present, unknown } from './reader-factory.ts';
import { compileTimeFormat, makeIsoFormatter } from '../../shared/substitution/strftime.ts';
import type { ReaderFactory } from './reader-factory.ts';

type SideOf = (info: StreamInfo) => TlsInfo | undefined;
type FactOf = (tls: TlsInfo) => string | undefined;
type CertificateFactOf = (of: CertificateInfo) => string | undefined;

const downstream: SideOf = (info) => info.connection.tls;
const upstream: SideOf = (info) => info.upstreamTls;

const version: FactOf = (tls) => tls.version;
const cipher: FactOf = (tls) => tls.cipherSuite;
const sessionId: FactOf = (tls) => tls.sessionId;
const group: FactOf = (tls) => tls.group;

export const TLS_READERS = {
  DOWNSTREAM_TLS_VERSION: fact(downstream, version),
  DOWNSTREAM_TLS_CIPHER: fact(downstream, cipher),
  DOWNSTREAM_TLS_SESSION_ID: fact(downstream, sessionId),
  DOWNSTREAM_TLS_GROUP: fact(downstream, group),
  DOWNSTREAM_PEER_URI_SAN: peer(downstream, (of) => of.uriSans.join(',')),
  DOWNSTREAM_PEER_DNS_SAN: peer(downstream, (of) => of.dnsSans.join(',')),
  DOWNSTREAM_PEER_IP_SAN: peer(downstream, (of) => of.ipSans.join(',')),
  DOWNSTREAM_PEER_EMAIL_SAN: peer(downstream, (of) => of.emailSans.join(',')),
  DOWNSTREAM_PEER_OTHERNAME_SAN: unknown,
  DOWNSTREAM_PEER_SUBJECT: peer(downstream, (of) => of.subject),
  DOWNSTREAM_PEER_ISSUER: peer(downstream, (of) => of.issuer),
  DOWNSTREAM_PEER_ISSUER_SERIAL: peer(downstream, (of) => of.issuedBy?.serial),
  DOWNSTREAM_PEER_ISSUER_FINGERPRINT_256: peer(downstream, (of) => of.issuedBy?.fingerprint256),
  DOWNSTREAM_PEER_SERIAL: peer(downstream, (of) => of.serial),
  DOWNSTREAM_PEER_FINGERPRINT_1: peer(downstream, (of) => of.fingerprint1),
  DOWNSTREAM_PEER_FINGERPRINT_256: peer(downstream, (of) => of.fingerprint256),
  DOWNSTREAM_PEER_CHAIN_FINGERPRINTS_1: peer(downstream, (of) => of.fingerprint1),
  DOWNSTREAM_PEER_CHAIN_FINGERPRINTS_256: peer(downstream, (of) => of.fingerprint256),
  DOWNSTREAM_PEER_CHAIN_SERIALS: peer(downstream, (of) => of.serial),
  DOWNSTREAM_PEER_CERT: peer(downstream, (of) => encodeURIComponent(of.pem)),
  DOWNSTREAM_PEER_CERT_V_START: certificateTime(downstream, (of) => of.validFromMs),
  DOWNSTREAM_PEER_CERT_V_END: certificateTime(downstream, (of) => of.validToMs),
  DOWNSTREAM_LOCAL_URI_SAN: local(downstream, (of) => of.uriSans.join(',')),
  DOWNSTREAM_LOCAL_DNS_SAN: local(downstream, (of) => of.dnsSans.join(',')),
  DOWNSTREAM_LOCAL_IP_SAN: local(downstream, (of) => of.ipSans.join(',')),
  DOWNSTREAM_LOCAL_EMAIL_SAN: local(downstream, (of) => of.emailSans.join(',')),
  DOWNSTREAM_LOCAL_OTHERNAME_SAN: unknown,
  DOWNSTREAM_LOCAL_SUBJECT: local(downstream, (of) => of.subject),
  TLS_JA3_FINGERPRINT: plain(({ connection }) => connection.fingerprints?.ja3),
  TLS_JA4_FINGERPRINT: plain(({ connection }) => connection.fingerprints?.ja4),
  UPSTREAM_TLS_VERSION: fact(upstream, version),
  UPSTREAM_TLS_CIPHER: fact(upstream, cipher),
  UPSTREAM_TLS_SESSION_ID: fact(upstream, sessionId),
  UPSTREAM_TLS_GROUP: fact(upstream, group),
  UPSTREAM_SERVER_NAME: unknown,
  UPSTREAM_PEER_URI_SAN: peer(upstream, (of) => of.uriSans.join(',')),
  UPSTREAM_PEER_DNS_SAN: peer(upstream, (of) => of.dnsSans.join(',')),
  UPSTREAM_PEER_IP_SAN: peer(upstream, (of) => of.ipSans.join(',')),
  UPSTREAM_PEER_SUBJECT: peer(upstream, (of) => of.subject),
  UPSTREAM_PEER_ISSUER: peer(upstream, (of) => of.issuer),
  UPSTREAM_PEER_CERT: peer(upstream, (of) => encodeURIComponent(of.pem)),
  UPSTREAM_PEER_CERT_V_START: certificateTime(upstream, (of) => of.validFromMs),
  UPSTREAM_PEER_CERT_V_END: certificateTime(upstream, (of) => of.validToMs),
  UPSTREAM_LOCAL_URI_SAN: local(upstream, (of) => of.uriSans.join(',')),
  UPSTREAM_LOCAL_DNS_SAN: local(upstream, (of) => of.dnsSans.join(',')),
  UPSTREAM_LOCAL_IP_SAN: local(upstream, (of) => of.ipSans.join(',')),
} satisfies Record<string, ReaderFactory>;

function fact(sideOf: SideOf, factOf: FactOf): ReaderFactory {
  return plain((info) => {
    const tls = sideOf(info);
    return tls === undefined ? undefined : present(factOf(tls));
  });
}

function peer(sideOf: SideOf, factOf: CertificateFactOf): ReaderFactory {
  return fact(sideOf, (tls) => (tls.peer === undefined ? undefined : factOf(tls.peer)));
}

function local(sideOf: SideOf, factOf: CertificateFactOf): ReaderFactory {
  return fact(sideOf, (tls) => (tls.local === undefined ? undefined : factOf(tls.local)));
}

/** The argument is a format of strftime; without one the time is in ISO form. */
function certificateTime(sideOf: SideOf, timeOf: (of: CertificateInfo) => number): ReaderFactory {
  return ({ args }) => {
    const [format = ''] = args;
    const print = format === '' ? makeIsoFormatter() : compileTimeFormat(format, 'utc');
    return (info) => {
      const certificate = sideOf(info)?.peer;
      const ms = certificate === undefined ? Number.NaN : timeOf(certificate);
      return Number.isNaN(ms) ? undefined : print(ms);
    };
  };
}
