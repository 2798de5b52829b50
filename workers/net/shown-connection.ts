/** A connection as modules see it. */
import type { Certificate, Connection, Tls } from '../../shared/scripts/context.ts';
import type { CertificateInfo, ConnectionInfo, TlsInfo } from './connection-info.ts';

export function connectionOf(info: ConnectionInfo): Connection {
  return {
    id: info.id,
    remoteAddress: info.remoteAddress.text,
    localAddress: info.localAddress.text,
    listener: info.listenerName,
    serverName: info.requestedServerName,
    tls: info.tls && tlsOf(info.tls),
  };
}

function tlsOf({ version, cipherSuite, alpn = '', peer, isPeerVerified }: TlsInfo): Tls {
  return { version, cipherSuite, alpn, peer: peer && certificateOf(peer), isPeerVerified };
}

function certificateOf(info: CertificateInfo): Certificate {
  const { subject, issuer, serial, fingerprint256, pem, dnsSans, uriSans } = info;
  return {
    subject,
    issuer,
    serial,
    fingerprint: fingerprint256,
    pem,
    dnsNames: dnsSans,
    uris: uriSans,
  };
}
