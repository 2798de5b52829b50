import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HeaderMap } from '../../../../workers/stream/header-map.ts';
import { buildHeaderPolicy } from '../../../../workers/headers/header-policy.ts';
import { StreamInfo } from '../../../../workers/stream/stream-info.ts';
import {
  DEFAULTS,
  NODE,
  connection,
  lines,
  type Options,
} from '../../../support/parts/header-policy.ts';

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
