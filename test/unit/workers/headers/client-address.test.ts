import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { LOOPBACK_RANGES, SELF, send, type Options } from '../../../support/parts/header-policy.ts';

// Every expectation was recorded from Envoy 1.40.0.
describe('original IP detection', () => {
  const custom = { kind: 'custom_header', name: 'x-real', isTrusted: true } as const;
  const xff = { kind: 'xff', numTrustedHops: 1, appends: false } as const;

  const client = (ipDetection: NonNullable<Options['ipDetection']>, given: [string, string][]) => {
    const { info, headers, refusal } = send({ ipDetection, internalCidrs: LOOPBACK_RANGES }, given);
    const forwarded = headers.get('x-forwarded-for');
    return {
      ip: info.downstreamRemoteAddress.ip,
      internal: info.isInternalRequest,
      forwarded,
      refusal,
    };
  };

  it('asks one extension after the other', () => {
    const both = [custom, xff];
    assert.equal(client(both, [['x-real', '1.2.3.4']]).ip, '1.2.3.4');
    const forwarded: [string, string] = ['x-forwarded-for', '5.5.5.5, 6.6.6.6'];
    assert.equal(client(both, [['x-real', 'bad'], forwarded]).ip, '5.5.5.5');
    assert.equal(client(both, []).ip, '127.0.0.1');
  });

  it('takes an address for internal only where the header may say so', () => {
    const given: [string, string][] = [['x-real', '10.1.1.1']];
    assert.equal(client([custom], given).internal, true);
    assert.equal(client([{ ...custom, isTrusted: false }], given).internal, false);
  });

  it('refuses what has no address where told to', () => {
    const strict = [{ ...custom, rejectStatus: 401 }];
    assert.equal(client(strict, []).refusal?.status, 401);
    assert.equal(client(strict, [['x-real', '1.2.3.4:80']]).refusal?.status, 401);
    assert.equal(client(strict, [['x-real', '1.2.3.4']]).refusal, undefined);
  });

  it('goes back to the last address that is no trusted proxy', () => {
    const trusted = { ...xff, numTrustedHops: 0, trusted: LOOPBACK_RANGES, appends: true };
    const found = client([trusted], [['x-forwarded-for', '1.1.1.1, 10.0.0.1, 10.0.0.2']]);
    assert.equal(found.ip, '1.1.1.1');
    assert.equal(found.forwarded, `1.1.1.1, 10.0.0.1, 10.0.0.2,${SELF}`);
    const elsewhere = { ...trusted, trusted: [{ address: '9.0.0.0', prefixLength: 8 }] };
    assert.equal(client([elsewhere], [['x-forwarded-for', '1.1.1.1']]).ip, '127.0.0.1');
  });
});

// Every expectation was recorded from Envoy 1.40.0.
describe('what the connection manager adds to requests', () => {
  it('changes a request before it reads anything from it', () => {
    const option = {
      name: 'x-forwarded-for',
      format: '9.9.9.9',
      appendAction: 'OVERWRITE_IF_EXISTS_OR_ADD',
      keepEmptyValue: false,
    } as const;
    const { headers, info } = send(
      {
        earlyMutations: [
          { kind: 'append', option },
          { kind: 'remove', name: 'x-gone' },
        ],
      },
      [
        ['x-forwarded-for', '1.2.3.4'],
        ['x-gone', '1'],
      ],
    );
    assert.equal(info.downstreamRemoteAddress.ip, '9.9.9.9');
    assert.equal(headers.has('x-gone'), false);
  });

  it('tells the port that the client came to, unless a trusted proxy has', () => {
    const given = [['x-forwarded-port', '99']] as const;
    const port = (options: Partial<Options>, headers: readonly (readonly [string, string])[]) =>
      send({ appendXForwardedPort: true, ...options }, headers).headers.get('x-forwarded-port');
    assert.equal(port({}, []), '8080');
    assert.equal(port({}, given), '99');
    assert.equal(port({ useRemoteAddress: true }, given), '8080');
    assert.equal(port({ useRemoteAddress: true, xffNumTrustedHops: 1 }, given), '99');
  });
});
