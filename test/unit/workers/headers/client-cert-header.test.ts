/** Expectations are what Envoy writes for the same certificates and headers. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ClientCertForwarding } from '../../../../shared/resources/listener.ts';
import { HeaderMap } from '../../../../workers/stream/header-map.ts';
import {
  keepsClientCert,
  writeClientCert,
} from '../../../../workers/headers/client-cert-header.ts';
import type { CertificateInfo, TlsInfo } from '../../../../workers/net/connection-info.ts';

const NAME = 'x-forwarded-client-cert';
const ALL = ['cert', 'chain', 'subject', 'uri', 'dns'] as const;

function facts(fields: Partial<CertificateInfo>): CertificateInfo {
  return {
    subject: 'CN=plain',
    issuer: 'CN=Root',
    serial: '01',
    fingerprint1: 'f1',
    fingerprint256: 'f256',
    pem: '-----A B\n',
    uriSans: [],
    dnsSans: [],
    ipSans: [],
    emailSans: [],
    validFromMs: 0,
    validToMs: 0,
    issuedBy: undefined,
    ...fields,
  };
}

const NAMED = facts({ uriSans: ['spiffe://x/y', 'urn:z'], dnsSans: ['a.test', 'b.test'] });

function tlsOf(peer: CertificateInfo | undefined, local = facts({})): TlsInfo {
  return {
    version: 'TLSv1.3',
    cipherSuite: '',
    sessionId: '',
    group: undefined,
    isPeerVerified: peer !== undefined,
    peer,
    local,
    alpn: '',
  };
}

function forward(
  forwarding: ClientCertForwarding | undefined,
  tls: TlsInfo | undefined,
  given: readonly string[] = [],
): string | undefined {
  const headers = new HeaderMap();
  const kept = keepsClientCert(forwarding, tls) ? given : [];
  for (const value of kept) headers.add(NAME, value);
  writeClientCert(headers, forwarding, tls);
  return headers.getAll(NAME, ' & ');
}

describe('x-forwarded-client-cert', () => {
  it('is kept, extended or replaced as its mode says, and only over mutual TLS', () => {
    const earlier = ['By=a;Hash=b'];
    const of = (mode: ClientCertForwarding['mode'], tls: TlsInfo | undefined) =>
      forward({ mode, details: [] }, tls, earlier);
    const mutual = tlsOf(NAMED);
    assert.equal(forward(undefined, mutual, earlier), undefined);
    assert.equal(of('FORWARD_ONLY', mutual), 'By=a;Hash=b');
    assert.equal(of('APPEND_FORWARD', mutual), 'By=a;Hash=b,Hash=f256');
    assert.equal(of('SANITIZE_SET', mutual), 'Hash=f256');
    for (const mode of ['FORWARD_ONLY', 'APPEND_FORWARD', 'SANITIZE_SET'] as const) {
      assert.equal(of(mode, tlsOf(undefined)), undefined);
      assert.equal(of(mode, undefined), undefined);
    }
  });

  it('holds what is configured in the order of Envoy', () => {
    const issuer = facts({ pem: '-----I\n' });
    const peer = { ...NAMED, subject: 'CN=a\\, b', issuedBy: issuer };
    const local = facts({ uriSans: ['spiffe://me'] });
    const all = forward({ mode: 'SANITIZE_SET', details: ALL }, tlsOf(peer, local));
    assert.equal(
      all,
      'By=spiffe://me;Hash=f256;Cert="-----A%20B%0A";Chain="-----A%20B%0A-----I%0A";' +
        'Subject="CN=a\\, b";URI=spiffe://x/y;URI=urn:z;DNS=a.test;DNS=b.test',
    );
  });

  it('names URI without a value, DNS not, where the certificate has no names', () => {
    const text = forward({ mode: 'SANITIZE_SET', details: ['uri', 'dns'] }, tlsOf(facts({})));
    assert.equal(text, 'Hash=f256;URI=');
  });

  it('extends several headers as one', () => {
    const options = { mode: 'APPEND_FORWARD', details: [] } as const;
    assert.equal(forward(options, tlsOf(NAMED), ['a=1', 'b=2']), 'a=1,b=2,Hash=f256');
  });
});
