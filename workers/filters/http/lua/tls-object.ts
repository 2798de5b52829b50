/** A TLS connection as scripts see it. */
import { LuaTable } from '../../../../shared/lua/lua-table.ts';
import { type LuaValue, NO_VALUES } from '../../../../shared/lua/values.ts';
import type { CertificateInfo, TlsInfo } from '../../../net/connection-info.ts';
import { type MethodMaker, type Methods, type Scope, StreamObject } from './stream-object.ts';

export class TlsObject extends StreamObject {
  readonly tls: TlsInfo;

  constructor(methods: Methods, scope: Scope, tls: TlsInfo) {
    super(methods, scope);
    this.tls = tls;
  }
}

class ParsedNameObject extends StreamObject {
  readonly subject: string;

  constructor(methods: Methods, scope: Scope, subject: string) {
    super(methods, scope);
    this.subject = subject;
  }
}

export function tlsMethods(maker: MethodMaker): Methods {
  const parsedName = maker.methods<ParsedNameObject>(ParsedNameObject, {
    commonName: ({ subject }) => partsOf(subject, 'CN')[0] ?? '',
    organizationName: ({ subject }) => LuaTable.of(partsOf(subject, 'O')),
  });
  const peer =
    (read: (certificate: CertificateInfo) => LuaValue, none: LuaValue = '') =>
    ({ tls }: TlsObject): LuaValue =>
      tls.peer === undefined ? none : read(tls.peer);
  const local =
    (read: (certificate: CertificateInfo) => LuaValue, none: LuaValue = '') =>
    ({ tls }: TlsObject): LuaValue =>
      tls.local === undefined ? none : read(tls.local);
  const names = (list: readonly string[]): LuaTable => LuaTable.of(list);
  return maker.methods<TlsObject>(TlsObject, {
    peerCertificatePresented: ({ tls }) => tls.peer !== undefined,
    peerCertificateValidated: ({ tls }) => tls.isPeerVerified,
    uriSanPeerCertificate: ({ tls }) => names(tls.peer?.uriSans ?? []),
    uriSanLocalCertificate: ({ tls }) => names(tls.local?.uriSans ?? []),
    dnsSansPeerCertificate: ({ tls }) => names(tls.peer?.dnsSans ?? []),
    dnsSansLocalCertificate: ({ tls }) => names(tls.local?.dnsSans ?? []),
    sha256PeerCertificateDigest: peer(({ fingerprint256 }) => fingerprint256),
    serialNumberPeerCertificate: peer(({ serial }) => serial),
    issuerPeerCertificate: peer(({ issuer }) => issuer),
    subjectPeerCertificate: peer(({ subject }) => subject),
    subjectLocalCertificate: local(({ subject }) => subject),
    parsedSubjectPeerCertificate: ({ tls, scope }) =>
      tls.peer === undefined
        ? NO_VALUES
        : new ParsedNameObject(parsedName, scope, tls.peer.subject),
    urlEncodedPemEncodedPeerCertificate: peer(({ pem }) => encodeURIComponent(pem)),
    urlEncodedPemEncodedPeerCertificateChain: peer((certificate) =>
      encodeURIComponent(chainOf(certificate)),
    ),
    validFromPeerCertificate: peer(({ validFromMs }) => seconds(validFromMs), 0),
    expirationPeerCertificate: peer(({ validToMs }) => seconds(validToMs), 0),
    sessionId: ({ tls }) => tls.sessionId,
    ciphersuiteId: ({ tls }) => CIPHER_IDS.get(tls.cipherSuite) ?? '0xffff',
    ciphersuiteString: ({ tls }) => tls.cipherSuite,
    tlsVersion: ({ tls }) => tls.version,
  });
}

const CHAIN_MAX = 100;

function chainOf(certificate: CertificateInfo): string {
  const pems: string[] = [];
  let each: CertificateInfo | undefined = certificate;
  while (each !== undefined && pems.length < CHAIN_MAX) {
    pems.push(each.pem);
    each = each.issuedBy;
  }
  return pems.join('');
}

function seconds(ms: number): number {
  return Number.isNaN(ms) ? 0 : Math.floor(ms / 1000);
}

/** Values of one kind in an RFC 2253 name. */
function partsOf(subject: string, kind: string): string[] {
  return subject
    .split(/(?<!\\),/)
    .filter((part) => part.startsWith(`${kind}=`))
    .map((part) => part.slice(kind.length + 1).replace(/\\(.)/g, '$1'));
}

const CIPHER_IDS: ReadonlyMap<string, string> = new Map([
  ['TLS_AES_128_GCM_SHA256', '0x1301'],
  ['TLS_AES_256_GCM_SHA384', '0x1302'],
  ['TLS_CHACHA20_POLY1305_SHA256', '0x1303'],
  ['ECDHE-ECDSA-AES128-GCM-SHA256', '0xc02b'],
  ['ECDHE-ECDSA-AES256-GCM-SHA384', '0xc02c'],
  ['ECDHE-RSA-AES128-GCM-SHA256', '0xc02f'],
  ['ECDHE-RSA-AES256-GCM-SHA384', '0xc030'],
  ['ECDHE-RSA-CHACHA20-POLY1305', '0xcca8'],
  ['ECDHE-ECDSA-CHACHA20-POLY1305', '0xcca9'],
  ['AES128-GCM-SHA256', '0x009c'],
  ['AES256-GCM-SHA384', '0x009d'],
]);
