/**
 * The whole way of what a peer says into a message that leaves: parts of a path and of a query, values
 * of headers, TLVs of the PROXY protocol, places that a host redirects to. Each request makes one
 * message for a host or none, and one answer, whatever it is made of.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attackRandom, attackRuns, attackTurns } from '../support/attack.ts';
import { bootstrap, httpListener, staticCluster } from '../support/parts/bootstrap.ts';
import { readStrictly } from '../support/parts/strict-message.ts';
import { HOSTILE_TEXTS } from '../support/peers/hostile/hostile-text.ts';
import { openRaw } from '../support/peers/raw-client.ts';
import { startRawUpstream, type RawUpstream } from '../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../support/programs/sluice.ts';

const TLV_TYPE = 0xe1;
const NAMESPACE = 'envoy.filters.listener.proxy_protocol';
const FILTERS = 'type.googleapis.com/envoy.extensions.filters';
/** Where a host redirects to stands in the path of the request, by this number. */
const places: string[] = [];

const rewritten = (prefix: string): object => ({
  pattern: { regex: `^/${prefix}/(.*)$` },
  substitution: '\\1',
});
const adding = (name: string, value: string): object => ({
  request_headers_to_add: [{ header: { key: name, value } }],
  response_headers_to_add: [{ header: { key: name, value } }],
});

const toCluster = { cluster: 'up' };
const ROUTES = [
  {
    match: { prefix: '/tlv' },
    route: toCluster,
    ...adding('x-made', `a%DYNAMIC_METADATA(${NAMESPACE}:tlv)%b`),
  },
  { match: { prefix: '/query' }, route: toCluster, ...adding('x-made', 'a%QUERY_PARAM(q)%b') },
  { match: { prefix: '/header' }, route: toCluster, ...adding('x-made', '%REQ(x-q)%') },
  { match: { prefix: '/regex' }, route: { ...toCluster, regex_rewrite: rewritten('regex') } },
  {
    match: { prefix: '/host' },
    route: { ...toCluster, host_rewrite_path_regex: rewritten('host') },
  },
  { match: { prefix: '/authority' }, route: { ...toCluster, host_rewrite_header: 'x-q' } },
  {
    match: { prefix: '/redirect' },
    route: {
      ...toCluster,
      internal_redirect_policy: { max_internal_redirects: 2, allow_cross_scheme_redirect: true },
    },
  },
  { match: { prefix: '/answer-regex' }, redirect: { regex_rewrite: rewritten('answer-regex') } },
  { match: { prefix: '/answer-path' }, redirect: { host_redirect: 'h', prefix_rewrite: '/x' } },
  { match: { prefix: '/' }, route: toCluster },
];

async function start(port: number): Promise<Sluice> {
  const rule = {
    tlv_type: TLV_TYPE,
    on_tlv_present: { key: 'tlv', value_string_encoding: 'UNSPECIFIED' },
  };
  const proxyProtocol = {
    name: NAMESPACE,
    typed_config: {
      '@type': `${FILTERS}.listener.proxy_protocol.v3.ProxyProtocol`,
      allow_requests_without_proxy_protocol: true,
      rules: [rule],
    },
  };
  const hcm = { delayed_close_timeout: '0.01s' };
  const listener = httpListener(ROUTES, { hcm, listener: { listener_filters: [proxyProtocol] } });
  return startSluice({
    bootstrap: bootstrap({ listeners: [listener], clusters: [staticCluster('up', [port])] }),
    concurrency: 1,
  });
}

/** Answers each head once, as the request asks. */
function startHost(): Promise<RawUpstream> {
  return startRawUpstream((socket, received) => {
    let answered = 0;
    socket.on('data', () => {
      const heads = received().split('\r\n\r\n').slice(0, -1);
      for (; answered < heads.length; answered++) {
        const place = /^GET \/redirect\/(\d+) /.exec(heads[answered] ?? '')?.[1];
        const head =
          place === undefined
            ? 'HTTP/1.1 200 OK'
            : `HTTP/1.1 302 Found\r\nlocation: ${places[Number(place)] ?? ''}`;
        socket.write(`${head}\r\ncontent-length: 0\r\n\r\n`, 'latin1');
      }
    });
  });
}

function tlvHead(value: Buffer): Buffer {
  const addresses = Buffer.from([127, 0, 0, 1, 127, 0, 0, 1, 0, 1, 0, 2]);
  const tlv = Buffer.from([TLV_TYPE, value.length >> 8, value.length & 255]);
  const length = addresses.length + tlv.length + value.length;
  const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
  return Buffer.concat([
    signature,
    Buffer.from([0x21, 0x11, length >> 8, length & 255]),
    addresses,
    tlv,
    value,
  ]);
}

const percent = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
const request = (path: string, headers = ''): Buffer =>
  Buffer.from(`GET ${path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n${headers}\r\n`, 'latin1');
/** What a request line or a header can hold at all is left of a text. */
const visible = (text: string): string =>
  Buffer.from(text.replaceAll(/[^\x21-\x7e\x80-\xff]/g, ''), 'latin1').toString('latin1');

/** Each gives the bytes that a client sends for a text. */
const SOURCES: Readonly<Record<string, (text: string) => Buffer>> = {
  'a TLV': (text) => Buffer.concat([tlvHead(Buffer.from(text, 'latin1')), request('/tlv')]),
  'a TLV in UTF-8': (text) => Buffer.concat([tlvHead(Buffer.from(text)), request('/tlv')]),
  'a parameter': (text) => request(`/query?q=${percent(text)}`),
  'a raw parameter': (text) => request(`/query?q=${visible(text)}`),
  'a value': (text) => request('/header', `x-q: ${visible(text)}\r\n`),
  'a rewritten path': (text) => request(`/regex/${visible(text)}`),
  'an escaped rewritten path': (text) => request(`/regex/${percent(text)}`),
  'a host of a path': (text) => request(`/host/${visible(text)}`),
  'an escaped host of a path': (text) => request(`/host/${percent(text)}`),
  'a host of a header': (text) => request('/authority', `x-q: ${visible(text)}\r\n`),
  'a redirected path': (text) => request(`/answer-regex/${visible(text)}`),
  'an escaped redirected path': (text) => request(`/answer-regex/${percent(text)}`),
  'a kept path': (text) => request(`/answer-path/${visible(text)}?${visible(text)}`),
  'a place of a host': (text) => request(`/redirect/${places.push(`http://h/${text}`) - 1}`),
  'an authority of a host': (text) => request(`/redirect/${places.push(`http://${text}/`) - 1}`),
  'a scheme of a host': (text) => request(`/redirect/${places.push(`${text}://h/`) - 1}`),
  'an escaped place': (text) => request(`/redirect/${places.push(`/${percent(text)}`) - 1}`),
};
/** A host's own answer may end in lines of its own there. */
const OF_HOSTS = /of a host/;

function textsOf(salt: number): readonly string[] {
  const random = attackRandom(salt);
  const bytes = Array.from({ length: 256 }, (_, byte) => `a${String.fromCharCode(byte)}b`);
  const picked = attackRuns(0, 1) === 0 ? bytes.filter(() => random() < 0.12) : bytes;
  const odd = [
    '//x',
    '\\x',
    'h:99999',
    '[::1',
    '@',
    '?',
    '#',
    '%',
    '%%',
    '%2',
    ':',
    '*',
    ' a',
    'a b',
  ];
  return [...HOSTILE_TEXTS, ...odd, 'x'.repeat(9000), ...picked];
}

describe('what peers say, on its whole way into messages', () => {
  it('makes one message or none', async () => {
    await using host = await startHost();
    await using sluice = await start(host.port);
    const port = await sluice.listenerPort('web');
    let passed = 0;
    let refused = 0;
    for (const [salt, [name, bytesOf]] of Object.entries(SOURCES).entries()) {
      const texts = textsOf(salt);
      for (const turn of attackTurns(texts.length, texts.length)) {
        // A host may write two answers itself: what matters is what leaves for it then.
        const text = OF_HOSTS.test(name) ? visible(texts[turn] ?? '') : (texts[turn] ?? '');
        const case_ = `${name}: ${JSON.stringify(text.slice(0, 60))}`;
        const client = await openRaw(port);
        client.send(bytesOf(text));
        const answers = readStrictly(await client.closed(), 'response');
        assert.equal(answers.length, 1, case_);
        assert.match(answers[0]?.start ?? '', / (200|30[123]|400|403|404|431|50[023]) /, case_);
        passed += Number(answers[0]?.start.includes(' 200 '));
        refused += Number(answers[0]?.start.includes(' 503 '));
      }
    }
    // The host answers everything: what gets 503 was refused at the door.
    assert.ok(passed > 100 && refused > 10, `${passed} passed, ${refused} refused`);
    const requests = host.received.flatMap((each) => readStrictly(each, 'request'));
    assert.ok(requests.length >= passed);
    for (const { start: line } of requests) {
      assert.doesNotMatch(line, /^GET \/admin HTTP/);
    }
    assert.equal(await sluice.stat('sluice.worker.exceptions'), 0);
  });
});
