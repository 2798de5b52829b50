import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { send, type Options } from '../../../support/parts/header-policy.ts';

// Every expectation was recorded from Envoy 1.40.0.
describe('the fields of a request behind the header policy', () => {
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
