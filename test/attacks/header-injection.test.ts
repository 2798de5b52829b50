/**
 * Whatever a peer puts into what headers are made of, exactly one message leaves, or none: every
 * substitution command and every place of a message, with every byte and class of code points.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { packCel } from '../../shared/cel/expression.ts';
import { COMMANDS, type FormatCommandName } from '../../shared/substitution/commands.ts';
import { compileHeaderMutations } from '../../workers/routing/header-mutations.ts';
import { StreamInfo } from '../../workers/stream/stream-info.ts';
import { HeaderMap } from '../../workers/stream/header-map.ts';
import type { CertificateInfo, TlsInfo } from '../../workers/net/connection-info.ts';
import { compileCelText } from '../../supervisor/cel/compile-cel.ts';
import { HOSTILE_TEXTS, hostileUnits } from '../support/peers/hostile/hostile-text.ts';
import { ClientHarness, ServerHarness } from '../support/peers/http1.ts';
import { addition } from '../support/parts/routes.ts';
import { connectionInfo, requestHeaders } from '../support/parts/stream.ts';
import { readStrictly, valuesOf } from '../support/parts/strict-message.ts';

const NO_JOINED: ReadonlySet<string> = new Set();
/** What stands between the brackets of commands that need something there. */
const ARGUMENTS: Partial<Record<FormatCommandName, string>> = {
  REQ: 'X-Q',
  RESP: 'X-Q',
  TRAILER: 'X-Q',
  REQUEST_HEADER: 'X-Q',
  RESPONSE_HEADER: 'X-Q',
  RESPONSE_TRAILER: 'X-Q',
  STREAM_INFO_REQ: 'X-Q',
  QUERY_PARAM: 'q',
  DYNAMIC_METADATA: 'ns:key',
  CLUSTER_METADATA: 'ns:key',
  UPSTREAM_METADATA: 'ns:key',
  METADATA: 'DYNAMIC:ns:key',
  FILTER_STATE: 'key:PLAIN',
  UPSTREAM_FILTER_STATE: 'key:PLAIN',
  COMMON_DURATION: 'DS_RX_BEG:DS_RX_END:ms',
  ENVIRONMENT: 'PATH',
  PATH: 'WQ:PATH',
  XFCC_VALUE: 'uri',
  COALESCE: '{"operators": ["REQUESTED_SERVER_NAME"]}',
  CEL: packed("request.headers['x-q']"),
  TYPED_CEL: packed("request.headers['x-q']"),
  REQ_WITHOUT_QUERY: 'X-Q',
};

/** An expression as the supervisor gives it to workers. */
function packed(source: string): string {
  const result = compileCelText(source);
  assert.ok('expression' in result, JSON.stringify(result));
  return packCel(result.expression);
}

function certificate(text: string): CertificateInfo {
  const sans = [text, `a${text}`];
  return {
    subject: text,
    issuer: text,
    serial: text,
    fingerprint1: text,
    fingerprint256: text,
    pem: text,
    uriSans: sans,
    dnsSans: sans,
    ipSans: sans,
    emailSans: sans,
    validFromMs: 0,
    validToMs: 0,
    issuedBy: undefined,
  };
}

/** A stream of which everything that is a text is `text`. */
function hostileStream(text: string): StreamInfo {
  const peer = certificate(text);
  const tls: TlsInfo = {
    version: text,
    cipherSuite: text,
    sessionId: text,
    group: text,
    peer,
    isPeerVerified: true,
    local: peer,
    alpn: text,
  };
  const address = { kind: 'pipe', ip: text, port: 0, text } as const;
  const info = new StreamInfo(
    connectionInfo({
      tls,
      requestedServerName: text,
      terminationDetails: text,
      transportFailureReason: text,
      filterChainName: text,
      listenerName: text,
      remoteAddress: address,
      directRemoteAddress: address,
      localAddress: address,
    }),
    0,
    0,
  );
  const open = info as unknown as Record<string, unknown>;
  for (const [name, value] of Object.entries(open)) if (value === '') open[name] = text;
  info.upstreamTls = tls;
  info.upstreamLocalAddress = address;
  info.dynamicMetadata = new Map([['ns', { key: text }]]);
  const request = requestHeaders(`/?q=${encoded(text)}`);
  request.add('x-q', text);
  const response = new HeaderMap();
  response.add('x-q', text);
  info.requestHeaders = request;
  info.responseHeaders = response;
  info.responseTrailers = response;
  info.requestTrailers = response;
  info.upstreamHost = {
    id: text,
    address: text,
    ip: text,
    port: 1,
    hostname: text,
    region: text,
    zone: text,
    subZone: text,
    metadata: undefined,
  };
  return info;
}

function encoded(text: string): string {
  return [...Buffer.from(text, 'utf8')]
    .map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
    .join('');
}

function formatOf(name: FormatCommandName): string {
  const args = ARGUMENTS[name];
  return `%${name}${args === undefined ? '' : `(${args})`}%`;
}

/** As sockets write it: each character cut to eight bits. */
function onTheWire(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** The only request, or undefined where none was written and the reason is known. */
function leaving(headers: HeaderMap): ReturnType<typeof readStrictly>[number] | undefined {
  const client = new ClientHarness().request(headers);
  const written = onTheWire(client.wire.written);
  if (client.fault !== undefined) {
    assert.equal(written, '');
    return undefined;
  }
  const messages = readStrictly(written, 'request');
  assert.equal(messages.length, 1);
  return messages[0];
}

function answering(headers: HeaderMap): ReturnType<typeof readStrictly>[number] | undefined {
  const server = new ServerHarness((encoder) => encoder.encodeHeaders(headers, true));
  server.feed('GET / HTTP/1.1\r\nhost: h\r\n\r\n');
  const messages = readStrictly(onTheWire(server.wire.written), 'response');
  assert.equal(messages.length, 1);
  return messages[0];
}

const texts = [...HOSTILE_TEXTS, ...hostileUnits().map((unit) => `a${String.fromCharCode(unit)}b`)];

describe('headers made of what peers say', () => {
  it('are one message for every substitution command', () => {
    let refused = 0;
    for (const name of Object.keys(COMMANDS) as FormatCommandName[]) {
      const change = compileHeaderMutations(
        [{ add: [addition('x-made', formatOf(name))], remove: [] }],
        NO_JOINED,
      );
      for (const text of HOSTILE_TEXTS) {
        const info = hostileStream(text);
        const headers = requestHeaders('/');
        change?.(headers, info);
        if (leaving(headers) === undefined) refused++;
        const response = new HeaderMap();
        response.status = 200;
        change?.(response, info);
        answering(response);
      }
    }
    assert.ok(refused > 100, `only ${refused} refused: is the stream hostile?`);
  });

  it('leave with every permitted value and with no other', () => {
    for (const text of texts) {
      const isPermitted = /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
      const headers = requestHeaders('/');
      headers.add('x-made', text);
      const message = leaving(headers);
      assert.deepEqual(valuesOf(message, 'x-made'), isPermitted ? [text] : []);
      assert.equal(message !== undefined, isPermitted, JSON.stringify(text));
      const response = new HeaderMap();
      response.status = 200;
      response.set('x-made', 'old');
      response.append('x-made', text);
      const joined = valuesOf(answering(response), 'x-made');
      assert.deepEqual(joined, isPermitted ? [`old,${text}`] : [], JSON.stringify(text));
    }
  });

  it('leave with tokens as names and with no others', () => {
    for (const text of texts) {
      const isToken = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text);
      const headers = requestHeaders('/');
      headers.add(text, 'v');
      assert.equal(leaving(headers) !== undefined, isToken || text === '' ? isToken : false);
      const response = new HeaderMap();
      response.status = 200;
      response.add(text, 'v');
      assert.equal(
        valuesOf(answering(response), text.toLowerCase()).length > 0,
        isToken,
        JSON.stringify(text),
      );
    }
  });

  it('leave with no line but a request line', () => {
    const places = ['method', 'path', 'authority', 'scheme', 'protocol'] as const;
    for (const text of texts) {
      for (const place of places) {
        const headers = requestHeaders('/');
        headers[place] = place === 'path' ? `/${text}` : text;
        leaving(headers);
        const tunnel = requestHeaders('/');
        tunnel.method = 'CONNECT';
        tunnel[place] = text;
        leaving(tunnel);
      }
    }
  });

  it('never frame a body in another way than the codec does', () => {
    for (const value of [...texts, '5', '05', '+5', '5,5', '0x5', 'chunked', 'identity']) {
      for (const name of ['content-length', 'transfer-encoding']) {
        const headers = requestHeaders('/');
        headers.method = 'POST';
        headers.set(name, value);
        leaving(headers);
        const twice = requestHeaders('/');
        twice.add('content-length', '0');
        twice.add(name, value);
        assert.equal(leaving(twice), undefined);
        const response = new HeaderMap();
        response.status = 200;
        response.set('content-length', '0');
        response.add(name, value);
        answering(response);
      }
    }
  });

  it('stay out of trailers', () => {
    for (const text of texts) {
      const trailers = new HeaderMap();
      trailers.add('x-made', text);
      trailers.add('x-last', '1');
      const headers = requestHeaders('/');
      headers.method = 'POST';
      const client = new ClientHarness().request(headers, false);
      client.codec.encodeTrailers(trailers.clone());
      const [message, ...more] = readStrictly(onTheWire(client.wire.written), 'request');
      assert.deepEqual(more, []);
      assert.ok(message?.trailers.some(([name]) => name === 'x-last'));
      const server = new ServerHarness((encoder) => {
        const response = new HeaderMap();
        response.status = 200;
        encoder.encodeHeaders(response, false);
        encoder.encodeTrailers(trailers.clone());
      });
      server.feed('GET / HTTP/1.1\r\nhost: h\r\n\r\n');
      assert.equal(readStrictly(onTheWire(server.wire.written), 'response').length, 1);
    }
  });

  it('give an answer a status that answers have', () => {
    for (const status of [0, -1, 1, 99, 100, 101, 103, 199, 1000, 1e21, NaN, Infinity, 200.5]) {
      const response = new HeaderMap();
      response.status = status;
      assert.equal(answering(response)?.start, 'HTTP/1.1 502 Bad Gateway');
    }
  });
});
