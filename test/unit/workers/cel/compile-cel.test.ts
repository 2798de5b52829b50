/** What expressions say, in the language itself and of a stream; the values are Envoy's own. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { toByteString } from '../../../../shared/regex/byte-string.ts';
import { structOf } from '../../../../shared/text/dictionary.ts';
import { compileCelText } from '../../../../supervisor/cel/compile-cel.ts';
import { compileCel } from '../../../../workers/cel/compile-cel.ts';
import { celJson, celText } from '../../../../workers/cel/print.ts';
import { CelFailure } from '../../../../workers/cel/values.ts';
import type { StreamInfo } from '../../../../workers/stream/stream-info.ts';
import { headerMap, requestHeaders, streamInfo } from '../../../support/parts/stream.ts';
import { LANGUAGE } from './language.ts';

function valueOf(text: string, info: StreamInfo) {
  const result = compileCelText(text);
  assert.ok(result.ok, `${text}: ${result.ok ? '' : result.error}`);
  return compileCel(result.expression)(info);
}

function printed(text: string, info = streamInfo()): string | undefined {
  const value = valueOf(text, info);
  return value instanceof CelFailure ? undefined : celText(value);
}

function requestWithFacts(): StreamInfo {
  const headers = requestHeaders('/p/a?q=1&r=2', [
    ['x-a', 'va'],
    ['x-m', '1'],
    ['x-m', '2'],
    ['content-length', '3'],
  ]);
  const info = streamInfo(headers);
  info.responseCode = 201;
  info.responseHeaders = headerMap([['x-res', 'rv']]);
  info.dynamicMetadata = new Map([
    ['ns', structOf({ n: 7, s: 'é', list: [1, null], constructor: 'own' })],
  ]);
  return info;
}

describe('expressions of CEL', () => {
  it('say what they say in Envoy', () => {
    const wrong = LANGUAGE.filter(
      ([text, expected]) => printed(text) !== (expected && toByteString(expected)),
    ).map(([text, expected]) => `${text}: ${printed(text)} in place of ${expected}`);
    assert.deepEqual(wrong, []);
  });

  it('read requests and responses', () => {
    const info = requestWithFacts();
    for (const [text, expected] of [
      ['request.url_path', '/p/a'],
      ['request.query', 'q=1&r=2'],
      ['request.headers["X-A"]', 'va'],
      ['request.headers.host', 'h'],
      ['request.headers["x-m"]', '1,2'],
      ['size(request.headers)', '7'],
      ['"x-a" in request.headers', 'true'],
      ['has(request.headers.foo)', 'false'],
      ['has(request.nothing)', 'false'],
      ['request.nothing', undefined],
      ['request.headers["none"] == "a"', undefined],
      ['request.headers["none"] == "a" || true', 'true'],
      ['request.size + 1', '4'],
      ['response.code >= 200 && response.code < 300', 'true'],
      ['response.headers["x-res"]', 'rv'],
      ['response.grpc_status', '2'],
      ['connection.mtls', 'false'],
      ['source.address.startsWith("127.")', 'true'],
      ['request.path.matches("/p")', 'true'],
      ['request.path.matches("^/p$")', 'false'],
    ] as const) {
      assert.equal(printed(text, info), expected, text);
    }
  });

  it('read metadata, whatever its members are called', () => {
    const info = requestWithFacts();
    assert.equal(printed('metadata.filter_metadata["ns"]["n"] == 7', info), 'true');
    assert.equal(printed('metadata.filter_metadata.ns.s', info), toByteString('é'));
    assert.equal(printed('metadata.filter_metadata.ns.list[1]', info), 'NULL');
    assert.equal(printed('metadata.filter_metadata.ns.constructor', info), 'own');
    assert.equal(printed('metadata.filter_metadata.ns.toString', info), undefined);
    assert.equal(printed('has(metadata.filter_metadata.__proto__)', info), 'false');
    const whole =
      'filter_metadata { key: "ns" value { fields { key: "n" value { number_value: 7 } } } } ';
    const small = streamInfo();
    small.dynamicMetadata = new Map([['ns', structOf({ n: 7 })]]);
    assert.equal(printed('metadata', small), whole);
  });

  it('know the cluster of a request before it is sent', () => {
    const info = streamInfo();
    assert.equal(printed('xds.cluster_name', info), undefined);
    info.route = { kind: 'cluster', clusterName: 'planned' } as unknown as typeof info.route;
    assert.equal(printed('xds.cluster_name', info), 'planned');
    info.upstreamCluster = 'taken';
    assert.equal(printed('xds.cluster_name', info), 'taken');
  });

  it('keep their types in JSON', () => {
    const info = requestWithFacts();
    const value = valueOf('{"a": [1, 2.5, b"x"], "h": request.headers["x-a"], "n": null}', info);
    assert.equal(JSON.stringify(celJson(value)), '{"a":[1,2.5,"eA=="],"h":"va","n":null}');
  });
});
