import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { HeaderMap } from '../../../../workers/stream/header-map.ts';
import { buildHeaderPolicy } from '../../../../workers/headers/header-policy.ts';
import { StreamInfo } from '../../../../workers/stream/stream-info.ts';
import {
  DEFAULTS,
  NODE,
  LOOPBACK_RANGES,
  SELF,
  SAMPLED_ID,
  UNSAMPLED_ID,
  connection,
  send,
  lines,
  type Options,
} from '../../../support/parts/header-policy.ts';

const X_ENVOY: readonly (readonly [string, string])[] = [
  ['x-forwarded-for', '1.2.3.4, 10.0.0.1'],
  ['x-forwarded-proto', 'https'],
  ['x-envoy-internal', 'true'],
  ['x-envoy-external-address', '9.9.9.9'],
  ['x-envoy-retry-on', '5xx'],
  ['x-envoy-decorator-operation', 'a'],
  ['x-envoy-downstream-service-cluster', 'dc'],
  ['x-envoy-downstream-service-node', 'dn'],
  ['x-envoy-upstream-rq-timeout-ms', '5000'],
  ['x-envoy-original-path', '/op'],
  ['x-envoy-original-host', 'oh'],
  ['x-envoy-foo', 'bar'],
  ['x-envoy-attempt-count', '7'],
  ['x-request-id', 'abc'],
  ['te', 'trailers, gzip'],
  ['keep-alive', '1'],
  ['proxy-connection', 'x'],
  ['via', 'up'],
];

// Every expectation was recorded from Envoy 1.40.0.
describe('header policy of requests', () => {
  it('adds x-forwarded-proto and x-request-id to a bare request', () => {
    const { headers, info } = send({}, []);
    assert.deepEqual(lines(headers), ['x-forwarded-proto: http', 'x-request-id: ID']);
    assert.equal(headers.scheme, 'http');
    assert.equal(info.requestId, headers.get('x-request-id'));
  });

  it('keeps what trusted proxies say when it is not an edge, but not what steers Sluice', () => {
    const { headers } = send({}, X_ENVOY);
    assert.deepEqual(lines(headers), [
      'x-forwarded-for: 1.2.3.4, 10.0.0.1',
      'x-forwarded-proto: https',
      'x-envoy-external-address: 9.9.9.9',
      'x-envoy-decorator-operation: a',
      'x-envoy-downstream-service-cluster: dc',
      'x-envoy-downstream-service-node: dn',
      'x-envoy-original-path: /op',
      'x-envoy-original-host: oh',
      'x-envoy-foo: bar',
      'x-envoy-attempt-count: 7',
      'x-request-id: abc',
      'te: trailers',
      'via: up',
    ]);
  });

  it('overrides at the edge what an external client says', () => {
    const { headers } = send({ useRemoteAddress: true, via: 'myvia' }, X_ENVOY);
    assert.deepEqual(lines(headers), [
      `x-forwarded-for: 1.2.3.4, 10.0.0.1,${SELF}`,
      'x-forwarded-proto: http',
      'x-envoy-external-address: 127.0.0.1',
      'x-envoy-foo: bar',
      'x-envoy-attempt-count: 7',
      'x-request-id: ID',
      'te: trailers',
      'via: up, myvia',
    ]);
  });

  it('takes the client from x-forwarded-for, counted from the trusted end', () => {
    const table: readonly (readonly [Partial<Options>, string, string])[] = [
      [{}, '1.2.3.4', '1.2.3.4:0'],
      [{}, '1.1.1.1,2.2.2.2 , 3.3.3.3 ', '3.3.3.3:0'],
      [{}, '0:0::1', '[::1]:0'],
      [{}, 'bad', '127.0.0.1:50000'],
      [{}, '1.1.1.1:80', '127.0.0.1:50000'],
      [{}, '1.1.1.1,', '127.0.0.1:50000'],
      [{}, '', '127.0.0.1:50000'],
      [{ xffNumTrustedHops: 1 }, '1.2.3.4', '127.0.0.1:50000'],
      [{ xffNumTrustedHops: 1 }, '1.1.1.1,2.2.2.2,3.3.3.3', '2.2.2.2:0'],
      [{ useRemoteAddress: true }, '1.2.3.4', '127.0.0.1:50000'],
      [{ useRemoteAddress: true, xffNumTrustedHops: 1 }, '1.1.1.1,2.2.2.2', '2.2.2.2:0'],
      [{ useRemoteAddress: true, xffNumTrustedHops: 3 }, '1.1.1.1,2.2.2.2', '127.0.0.1:50000'],
    ];
    for (const [options, forwardedFor, expected] of table) {
      const { info } = send(options, [['x-forwarded-for', forwardedFor]]);
      assert.equal(info.downstreamRemoteAddress.text, expected, forwardedFor);
    }
  });

  it('calls a request internal only when its one known address is in a configured range', () => {
    const table: readonly (readonly [Partial<Options>, string | undefined, boolean])[] = [
      [{ useRemoteAddress: true }, undefined, false],
      [{ useRemoteAddress: true, internalCidrs: LOOPBACK_RANGES }, undefined, true],
      [{ useRemoteAddress: true, internalCidrs: LOOPBACK_RANGES }, '10.0.0.1', false],
      [{ internalCidrs: LOOPBACK_RANGES }, undefined, false],
      [{ internalCidrs: LOOPBACK_RANGES }, '10.0.0.1', true],
      [{ internalCidrs: LOOPBACK_RANGES }, '10.0.0.1,10.0.0.2', false],
      [{ internalCidrs: LOOPBACK_RANGES }, '1.2.3.4', false],
      [{ internalCidrs: LOOPBACK_RANGES }, 'bad', false],
    ];
    for (const [options, forwardedFor, expected] of table) {
      const given: [string, string][] =
        forwardedFor === undefined ? [] : [['x-forwarded-for', forwardedFor]];
      const { headers, info } = send(options, given);
      assert.equal(info.isInternalRequest, expected, String(forwardedFor));
      assert.equal(headers.get('x-envoy-internal'), expected ? 'true' : undefined);
    }
  });

  it('leaves to an internal client its x-envoy headers and its trace decision', () => {
    const { headers } = send({ useRemoteAddress: true, internalCidrs: LOOPBACK_RANGES }, [
      ['x-envoy-retry-on', '5xx'],
      ['x-envoy-downstream-service-cluster', 'dc'],
      ['x-envoy-external-address', '1.1.1.1'],
      ['x-request-id', SAMPLED_ID],
    ]);
    assert.deepEqual(lines(headers), [
      'x-envoy-retry-on: 5xx',
      'x-envoy-downstream-service-cluster: dc',
      'x-envoy-external-address: 1.1.1.1',
      `x-request-id: ${SAMPLED_ID}`,
      `x-forwarded-for: ${SELF}`,
      'x-forwarded-proto: http',
      'x-envoy-internal: true',
    ]);
  });

  it('keeps an external request id only where asked to, without its trace decision', () => {
    const edge = { useRemoteAddress: true, preserveExternalRequestId: true };
    const table: readonly (readonly [Partial<Options>, string, string | RegExp])[] = [
      [{}, SAMPLED_ID, SAMPLED_ID],
      [{}, 'abc', 'abc'],
      [{}, '', /-4/],
      [{ useRemoteAddress: true }, SAMPLED_ID, /-4/],
      [edge, SAMPLED_ID, UNSAMPLED_ID],
      [edge, 'abc', 'abc'],
      [{ generateRequestId: false }, 'abc', 'abc'],
    ];
    for (const [options, given, expected] of table) {
      const value = send(options, [['x-request-id', given]]).headers.get('x-request-id') ?? '';
      if (typeof expected === 'string') assert.equal(value, expected);
      else assert.ok(expected.test(value) && value !== given, value);
    }
    assert.equal(send({ generateRequestId: false }, []).headers.has('x-request-id'), false);
  });

  it('joins repeated forwarding headers into one', () => {
    const { headers } = send({ useRemoteAddress: true, preserveExternalRequestId: true }, [
      ['x-forwarded-for', '1.1.1.1'],
      ['x-request-id', 'a'],
      ['x-forwarded-for', '2.2.2.2'],
      ['x-request-id', 'b'],
    ]);
    assert.equal(headers.get('x-forwarded-for'), `1.1.1.1,2.2.2.2,${SELF}`);
    assert.equal(headers.get('x-request-id'), 'a,b');
    assert.equal(headers.count, 4);
  });

  it('does not append to x-forwarded-for when told not to', () => {
    const { headers } = send({ useRemoteAddress: true, skipXffAppend: true }, []);
    assert.equal(headers.has('x-forwarded-for'), false);
    assert.equal(headers.get('x-envoy-external-address'), '127.0.0.1');
  });

  it('appends the peer itself when it is not this machine', () => {
    const { headers } = send({ useRemoteAddress: true }, [], { peer: '203.0.113.9' });
    assert.equal(headers.get('x-forwarded-for'), '203.0.113.9');
  });

  it('derives the scheme from x-forwarded-proto when it names one', () => {
    for (const [value, scheme] of [
      ['HTTPS', 'https'],
      ['https', 'https'],
      ['ftp', 'http'],
      ['', 'http'],
    ] as const) {
      const { headers } = send({}, [['x-forwarded-proto', value]]);
      assert.equal(headers.scheme, scheme);
      assert.equal(headers.get('x-forwarded-proto'), value);
    }
    assert.equal(send({ schemeOverwrite: 'https' }, []).headers.scheme, 'https');
  });

  it('passes on no referer that is not a URL', () => {
    const kept = [
      '',
      '/path',
      'garbage',
      '%',
      '//x',
      'ftp://x',
      'http://a/b?c#d',
      'http://[::1]:8/',
    ];
    const dropped = [
      'a b',
      'about:blank',
      'http://',
      'http://[x',
      'http://a:99999/',
      'http://a b/',
    ];
    for (const value of kept)
      assert.ok(send({}, [['referer', value]]).headers.has('referer'), value);
    for (const value of dropped) {
      assert.ok(!send({}, [['referer', value]]).headers.has('referer'), value);
    }
    const twice = send({}, [
      ['referer', 'http://a'],
      ['referer', 'http://b'],
    ]);
    assert.equal(twice.headers.has('referer'), false);
  });

  it('reduces te to trailers', () => {
    for (const [value, expected] of [
      ['trailers', 'trailers'],
      ['gzip', undefined],
      ['Trailers', undefined],
      ['trailers;q=0.5', undefined],
      ['gzip, trailers', 'trailers'],
    ] as const) {
      assert.equal(send({}, [['te', value]]).headers.get('te'), expected, value);
    }
  });

  it('strips ports and dots from the authority', () => {
    const table: readonly (readonly [Partial<Options>, string, string])[] = [
      [{ stripHostPort: 'matching' }, 'a:8080', 'a'],
      [{ stripHostPort: 'matching' }, 'a:80', 'a:80'],
      [{ stripHostPort: 'any' }, 'a:80', 'a'],
      [{ stripHostPort: 'any' }, '[::1]:80', '[::1]'],
      [{ stripHostPort: 'any' }, '[::1]', '[::1]'],
      [{ stripHostPort: 'any' }, 'a:', 'a:'],
      [{ stripHostPort: 'any' }, 'a:b', 'a:b'],
      [{ stripTrailingHostDot: true }, 'a.', 'a'],
      [{ stripTrailingHostDot: true }, 'a.:80', 'a:80'],
      [{ stripTrailingHostDot: true }, 'a:80', 'a:80'],
    ];
    for (const [options, authority, expected] of table) {
      assert.equal(send(options, [], { authority }).headers.authority, expected);
    }
  });

  it('refuses or drops headers with underscores when asked to', () => {
    const given = [
      ['a_b', '1'],
      ['c', '2'],
    ] as const;
    const refusing = send({ underscoresInHeaders: 'REJECT_REQUEST' }, given);
    assert.equal(refusing.refused, 1);
    assert.deepEqual(refusing.refusal, {
      status: 400,
      details: '',
      body: '',
      fault: 'unexpected_underscore',
    });
    const dropping = send({ underscoresInHeaders: 'DROP_HEADER' }, given);
    assert.equal(dropping.headers.has('a_b'), false);
    assert.equal(dropping.headers.has('c'), true);
    assert.equal(dropping.dropped, 1);
  });

  it('refuses a path that cannot be normalised and redirects an escaped slash where asked to', () => {
    const refused = send({ normalizePath: true }, [], { path: '/%00' }).refusal;
    assert.deepEqual([refused?.status, refused?.details], [400, 'path_normalization_failed']);
    const escaped = { escapedSlashes: 'UNESCAPE_AND_REDIRECT' } as const;
    const redirected = send(escaped, [], { path: '/a%2fb' }).refusal;
    assert.deepEqual([redirected?.status, redirected?.location], [307, '/a/b']);
    const grpc = send(escaped, [['content-type', 'application/grpc']], { path: '/a%2fb' }).refusal;
    assert.equal(grpc?.status, 400);
    assert.equal(send({ normalizePath: true }, [], { path: '/a/../b' }).headers.path, '/b');
  });

  it('names its own node where add_user_agent is set', () => {
    const names = (agent: string | undefined) => {
      const given: [string, string][] = agent === undefined ? [] : [['user-agent', agent]];
      const { headers } = send({ addUserAgent: true }, given);
      return [
        'user-agent',
        'x-envoy-downstream-service-cluster',
        'x-envoy-downstream-service-node',
      ].map((name) => headers.get(name));
    };
    assert.deepEqual(names(undefined), ['front', 'front', 'node-1']);
    assert.deepEqual(names(''), ['front', 'front', 'node-1']);
    assert.deepEqual(names('curl'), ['curl', 'front', 'node-1']);
  });

  it('passes on no claim about a client certificate unless told to', () => {
    const passes = (forwardsClientCert: boolean) =>
      send({ forwardsClientCert }, [['x-forwarded-client-cert', 'URI=a']]).headers.has(
        'x-forwarded-client-cert',
      );
    assert.deepEqual([passes(false), passes(true)], [false, true]);
  });

  it('takes internal-only headers from external requests', () => {
    const { headers } = send({}, [['x-only', '1']], { internalOnly: ['x-only'] });
    assert.equal(headers.has('x-only'), false);
  });
});

describe('header policy of responses', () => {
  const NOW = Date.UTC(2026, 10, 21, 11, 2, 58, 900);

  function respond(options: Partial<Options>, given: readonly (readonly [string, string])[]) {
    const policy = buildHeaderPolicy(
      { ...DEFAULTS, ...options },
      {
        localAddressIpVersion: 'v4',
        node: NODE,
        underscores: {
          countDroppedHeader: () => undefined,
          countRefusedUnderscore: () => undefined,
        },
        internalOnlyHeaders: () => [],
      },
    );
    const info = new StreamInfo(connection(), 0, 0);
    info.requestId = 'abc';
    const headers = new HeaderMap();
    headers.status = 200;
    for (const [name, value] of given) headers.add(name, value);
    policy.onResponse(headers, info, NOW);
    return lines(headers);
  }

  it('adds date and server, then request id and via where asked to', () => {
    assert.deepEqual(respond({}, [['server', 'nginx']]), [
      'server: envoy',
      'date: Sat, 21 Nov 2026 11:02:58 GMT',
    ]);
    assert.deepEqual(respond({ alwaysSetRequestIdInResponse: true, via: 'myvia' }, []), [
      'date: Sat, 21 Nov 2026 11:02:58 GMT',
      'server: envoy',
      'x-request-id: abc',
      'via: myvia',
    ]);
  });

  it('keeps the upstream date', () => {
    assert.ok(respond({}, [['date', 'then']]).includes('date: then'));
  });

  it('treats the server header as configured', () => {
    assert.ok(
      respond({ serverHeader: 'APPEND_IF_ABSENT' }, [['server', 'x']]).includes('server: x'),
    );
    assert.ok(respond({ serverHeader: 'APPEND_IF_ABSENT' }, []).includes('server: envoy'));
    assert.ok(!respond({ serverHeader: 'PASS_THROUGH' }, []).includes('server: envoy'));
  });

  it('removes hop-by-hop headers', () => {
    const shown = respond({}, [
      ['keep-alive', 'timeout=5'],
      ['proxy-connection', 'close'],
    ]);
    assert.equal(shown.length, 2);
  });
});
