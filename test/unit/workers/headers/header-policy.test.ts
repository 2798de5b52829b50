import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  LOOPBACK_RANGES,
  SELF,
  SAMPLED_ID,
  UNSAMPLED_ID,
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
});
