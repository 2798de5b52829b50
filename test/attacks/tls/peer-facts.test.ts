/**
 * What a client says in its handshake and in its cookies, on its whole way to a host: the names of its
 * certificate, the server name that it asks for. Each request makes one message for the host or
 * none, and one answer, whatever it is made of.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import tls from 'node:tls';
import { attackRandom, attackRuns, attackTurns } from '../../support/attack.ts';
import {
  altNames,
  buildCertificate,
  distinguishedName,
  makeKeys,
  SAN,
  TEXT,
} from '../../support/parts/certificate-builder.ts';
import { makeAuthority, type TestCertificate } from '../../support/parts/certificates.ts';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { readStrictly, valuesOf } from '../../support/parts/strict-message.ts';
import { askSecurely, certificateFiles, tlsSocket } from '../../support/parts/tls.ts';
import { HOSTILE_TEXTS, hostileUnits } from '../../support/peers/hostile/hostile-text.ts';
import { startRawUpstream, type RawUpstream } from '../../support/peers/upstream.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

const COMMANDS = [
  'REQUESTED_SERVER_NAME',
  'DOWNSTREAM_PEER_SUBJECT',
  'DOWNSTREAM_PEER_ISSUER',
  'DOWNSTREAM_PEER_URI_SAN',
  'DOWNSTREAM_PEER_DNS_SAN',
  'DOWNSTREAM_PEER_EMAIL_SAN',
  'DOWNSTREAM_PEER_CERT',
];

/** Cookies that say which host is wanted, and by which requests are spread. */
const SESSION = {
  name: 'envoy.filters.http.stateful_session',
  typed_config: {
    '@type':
      'type.googleapis.com/envoy.extensions.filters.http.stateful_session.v3.StatefulSession',
    session_state: {
      name: 'envoy.http.stateful_session.cookie',
      typed_config: {
        '@type':
          'type.googleapis.com/envoy.extensions.http.stateful_session.cookie.v3.CookieBasedSessionState',
        cookie: { name: 'wanted', path: '/' },
      },
    },
  },
};
const ROUTER = {
  name: 'envoy.filters.http.router',
  typed_config: {
    '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router',
  },
};

function listenerOf(details: string, server: TestCertificate): object {
  const added = COMMANDS.map((name) => ({ header: { key: `x-${name}`, value: `%${name}%` } }));
  const route = {
    match: { prefix: '/' },
    route: { cluster: 'up', hash_policy: [{ cookie: { name: 'spread', ttl: '0s' } }] },
    request_headers_to_add: [...added, { header: { key: 'x-cookie', value: '%REQ(cookie)%' } }],
    response_headers_to_add: [...added, { header: { key: 'x-cookie', value: '%REQ(cookie)%' } }],
  };
  const hcm = {
    forward_client_cert_details: details,
    set_current_client_cert_details: {
      subject: true,
      cert: true,
      chain: true,
      dns: true,
      uri: true,
    },
    http_filters: [SESSION, ROUTER],
    delayed_close_timeout: '0.01s',
  };
  const listener = httpListener([route], { hcm, listener: { name: details } }) as {
    readonly filter_chains: readonly object[];
  };
  const socket = tlsSocket('Downstream', {
    require_client_certificate: true,
    common_tls_context: { tls_certificates: [certificateFiles(server)] },
  });
  const chains = listener.filter_chains.map((chain) => ({ ...chain, transport_socket: socket }));
  return { ...listener, filter_chains: chains };
}

function startHost(): Promise<RawUpstream> {
  return startRawUpstream((socket, received) => {
    let answered = 0;
    socket.on('data', () => {
      const heads = received().split('\r\n\r\n').length - 1;
      for (; answered < heads; answered++)
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
  });
}

const keys = makeKeys();

/** Each kind of name holds the text, in its bytes. */
function clientCertificate(text: string, random: () => number): string {
  const bytes = Buffer.from(text, random() < 0.5 ? 'utf8' : 'latin1');
  const part =
    random() < 0.5
      ? { type: '2.5.4.3', tag: TEXT.utf8, value: Buffer.from(text) }
      : { type: '2.5.4.10', tag: TEXT.bmp, value: Buffer.from(text, 'utf16le').swap16() };
  const name = distinguishedName([part, { ...part, type: '2.5.4.11' }]);
  return buildCertificate({
    subject: name,
    issuer: name,
    keys,
    signer: keys,
    extensions: [
      altNames([SAN.uri, bytes], [SAN.dns, bytes], [SAN.email, bytes], [SAN.uri, bytes]),
    ],
  });
}

/** Undefined: OpenSSL refuses it on this side already. */
function contextOf(cert: string): tls.SecureContext | undefined {
  try {
    return tls.createSecureContext({ cert, key: keys.key });
  } catch {
    return undefined;
  }
}

/** What may stand in a field that a client writes. */
const visible = (text: string): string => text.replaceAll(/[^\x20-\x7e\x80-\xff]/g, '').trim();

describe('what a client says in its handshake', () => {
  it('makes one message or none', async () => {
    using scratch = makeScratch();
    await using host = await startHost();
    const server = makeAuthority(scratch.path).issue('server', 'DNS:s.test');
    const modes = ['SANITIZE_SET', 'APPEND_FORWARD', 'ALWAYS_FORWARD_ONLY'];
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: modes.map((details) => listenerOf(details, server)),
        clusters: [staticCluster('up', [host.port], { lb_policy: 'RING_HASH' })],
      }),
      concurrency: 1,
    });
    const ports = await Promise.all(modes.map((name) => sluice.listenerPort(name)));
    const random = attackRandom(23);
    const units = hostileUnits().map((unit) => `a${String.fromCharCode(unit)}b`);
    const texts = [...HOSTILE_TEXTS, 'a,b;c="d\\"', '\u{1f600}', 'x'.repeat(300), ...units];
    const seen = { answers: 0, passed: 0, refused: 0 };
    for (const turn of attackTurns(attackRuns(90, texts.length), texts.length)) {
      const text = texts[turn] ?? '';
      const case_ = JSON.stringify(text.slice(0, 60));
      const value = visible(text);
      const wanted = Buffer.from(text).toString('base64');
      const [cookie, forwarded] = [`spread=${value}; wanted="${wanted}"; ${value}`, `URI=${value}`];
      // A name of a server ends at its first NUL, whoever asks OpenSSL for it.
      const servername = (text.split('\0')[0] ?? '').slice(0, 60);
      const secureContext = contextOf(clientCertificate(text, random));
      if (secureContext === undefined) continue;
      const { text: answer } = await askSecurely(
        ports[turn % ports.length] ?? 0,
        { secureContext, servername },
        '/',
        `host: h\r\ncookie: ${cookie}\r\nx-forwarded-client-cert: ${forwarded}`,
      );
      const answers = readStrictly(answer, 'response');
      assert.ok(answers.length <= 1, case_);
      seen.answers += answers.length;
      if (answers.length === 0) continue;
      assert.match(answers[0]?.start ?? '', / (200|400|503) /, case_);
      seen.passed += Number(answers[0]?.start.includes(' 200 '));
      seen.refused += Number(answers[0]?.start.includes(' 503 '));
    }
    assert.ok(seen.passed > 20 && seen.refused > 2, JSON.stringify(seen));
    const requests = host.received.flatMap((each) => readStrictly(each, 'request'));
    assert.equal(requests.length, seen.passed);
    for (const request of requests) {
      assert.equal(request.start, 'GET / HTTP/1.1');
      assert.equal(valuesOf(request, 'host').length, 1);
      // A certificate gives a single element, a client's own header as many as it wrote.
      assert.ok(valuesOf(request, 'x-forwarded-client-cert').length <= 1);
    }
    assert.equal(await sluice.stat('sluice.worker.exceptions'), 0);
  });
});
