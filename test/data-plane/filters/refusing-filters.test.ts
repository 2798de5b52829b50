/** Filters that refuse requests by what they carry: delivery networks passed, size of the body. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HttpFilter } from '../../../shared/resources/filters/http-filters.ts';
import type { RouterFilterSettings } from '../../../shared/resources/filters/http/router.ts';
import { startDataPlane } from '../../support/parts/data-plane.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { type HttpUpstream, startHttpUpstream } from '../../support/peers/upstream.ts';

const ROUTER: RouterFilterSettings = {
  kind: 'router',
  name: 'router',
  options: {
    suppressEnvoyHeaders: false,
    respectExpectedRqTimeout: false,
    upstreamLogs: [],
    dynamicStats: true,
    startChildSpan: false,
  },
};

/** As Envoy 1.40 answers them, with `cdn.example` allowed once before. */
const CDN_LOOPS: readonly (readonly [field: string, status: number, host?: string])[] = [
  ['', 200, 'cdn.example'],
  ['CDN-Loop: \r\n', 200, 'cdn.example'],
  ['CDN-Loop: other\r\n', 200, 'other,cdn.example'],
  ['CDN-Loop: a, cdn.example\r\n', 200, 'a, cdn.example,cdn.example'],
  ['CDN-Loop: a\r\nCDN-Loop: cdn.example\r\n', 200, 'a,cdn.example,cdn.example'],
  ['CDN-Loop: cdn.example,, cdn.example\r\n', 502],
  ['CDN-Loop: cdn.example\r\nCDN-Loop: cdn.example;v=1\r\n', 502],
  [
    'CDN-Loop: b;y="q,cdn.example,cdn.example"\r\n',
    200,
    'b;y="q,cdn.example,cdn.example",cdn.example',
  ],
  ['CDN-Loop: [::1]:80, 1.2.3.4, a:\r\n', 200, '[::1]:80, 1.2.3.4, a:,cdn.example'],
  ...['[bad', 'a;;', 'a b', 'a; x', 'a;x = 1', 'a;x=', '"a"', 'a/b', '[v1.a]', ':80', 'a;x="'].map(
    (text) => [`CDN-Loop: ${text}\r\n`, 400] as const,
  ),
];

describe('cdn_loop', () => {
  it('refuses requests that have passed too often, and what is no list', async () => {
    await using upstream = await startHttpUpstream();
    const options = { cdnId: 'cdn.example', allowedOccurrences: 1 };
    const filter: HttpFilter = { kind: 'cdn_loop', name: 'cdn', options };
    await using plane = await startPlane(filter, upstream);
    for (const [field, status, host] of CDN_LOOPS) {
      const seen = upstream.requests.length;
      const answer = await ask(plane.port, `GET / HTTP/1.1\r\nHost: h\r\n${field}`);
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), field);
      assert.deepEqual(
        upstream.requests.slice(seen).map(({ headers }) => headers['cdn-loop']),
        host === undefined ? [] : [host],
        field,
      );
    }
  });
});

describe('body_size_limit', () => {
  it('refuses longer bodies by their length or when they come', async () => {
    await using upstream = await startHttpUpstream();
    const filter: HttpFilter = {
      kind: 'body_size_limit',
      name: 'limit',
      options: { maxRequestBytes: 10 },
    };
    await using plane = await startPlane(filter, upstream);
    const post = async (fields: string, body: string): Promise<string> =>
      await ask(plane.port, `POST / HTTP/1.1\r\nHost: h\r\n${fields}\r\n`, body);
    assert.match(await post('Content-Length: 10', '0123456789'), /^HTTP\/1.1 200 /);
    assert.match(
      await post('Content-Length: 11', ''),
      /^HTTP\/1.1 413 [^]*\r\n\r\ncontent length too large$/,
    );
    const chunked = await post(
      'Transfer-Encoding: chunked',
      '6\r\n012345\r\n6\r\n012345\r\n0\r\n\r\n',
    );
    assert.match(chunked, /^HTTP\/1.1 413 [^]*\r\n\r\nrequest too long$/);
    assert.match(
      await post('Transfer-Encoding: chunked', '5\r\n01234\r\n5\r\n01234\r\n0\r\n\r\n'),
      /^HTTP\/1.1 200 /,
    );
  });
});

/** As Envoy 1.40 answers them. */
const STRICT: readonly (readonly [name: string, value: string, isRead: boolean])[] = [
  ['x-envoy-max-retries', '1', true],
  ['x-envoy-max-retries', '99999999999', true],
  ['x-envoy-max-retries', 'a', false],
  ['x-envoy-max-retries', '-1', false],
  ['x-envoy-upstream-rq-timeout-ms', 'x', false],
  ['x-envoy-upstream-rq-per-try-timeout-ms', '', false],
  ['x-envoy-retry-on', '5xx, connect-failure', true],
  ['x-envoy-retry-on', '', true],
  ['x-envoy-retry-on', '5xx,bad', false],
  ['x-envoy-retry-grpc-on', 'cancelled', true],
  ['x-envoy-retry-grpc-on', 'zz', false],
];

describe('strict_check_headers', () => {
  it('refuses requests whose headers cannot be read', async () => {
    await using upstream = await startHttpUpstream();
    const strictHeaders = [...new Set(STRICT.map(([name]) => name))];
    const filters = [{ ...ROUTER, options: { ...ROUTER.options, strictHeaders } }];
    // These headers are removed from requests of clients from outside before.
    const internalCidrs = [{ address: '127.0.0.0', prefixLength: 8 }];
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      manager: { filters, useRemoteAddress: true, internalCidrs },
    });
    for (const [name, value, isRead] of STRICT) {
      const answer = await ask(plane.port, `GET / HTTP/1.1\r\nHost: h\r\n${name}: ${value}\r\n`);
      if (isRead) assert.match(answer, /^HTTP\/1.1 200 /, `${name}: ${value}`);
      else assert.match(answer, /^HTTP\/1.1 400 /, `${name}: ${value}`);
      const text = `invalid header '${name}' with value '${value}'`;
      assert.equal(answer.endsWith(text), !isRead, answer);
    }
  });
});

async function startPlane(filter: HttpFilter, upstream: HttpUpstream) {
  const filters = [filter, ROUTER];
  return await startDataPlane({ upstreamPorts: [upstream.port], manager: { filters } });
}

async function ask(port: number, head: string, body = ''): Promise<string> {
  const client = await openRaw(port);
  client.send(`${head}Connection: close\r\n\r\n${body}`);
  const answer = await client.closed();
  client.destroy();
  return answer;
}
