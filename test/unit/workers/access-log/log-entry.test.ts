/** Entries for log services: what is written is what a reader of the API's messages finds. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { LogServiceConfig } from '../../../../shared/resources/access-loggers/grpc.ts';
import { structOf } from '../../../../shared/text/dictionary.ts';
import { ApiCatalog } from '../../../../supervisor/config/api/api-catalog.ts';
import { decodeMessage } from '../../../../supervisor/config/convert/message-decoder.ts';
import { encodeEntry } from '../../../../workers/access-log/loggers/grpc/log-entry.ts';
import { headerMap, requestHeaders, streamInfo } from '../../../support/parts/stream.ts';

const CONFIG: LogServiceConfig = {
  kind: 'grpc',
  stream: {
    entries: 'http',
    logName: 'log',
    target: { kind: 'cluster', cluster: 'logs', authority: 'logs', metadata: [] },
  },
  flushIntervalMs: 1000,
  bufferBytes: 1,
  requestHeaders: ['x-wanted'],
  responseHeaders: [],
  responseTrailers: [],
  filterState: [],
  customTags: [],
};
const catalog = new ApiCatalog();

/** In canonical JSON form. */
function decoded(bytes: Buffer): Readonly<Record<string, unknown>> {
  const type = catalog.message('envoy.data.accesslog.v3.HTTPAccessLogEntry');
  const onUnknownField = (): void => assert.fail('a field that the message does not have');
  return decodeMessage({ catalog, onUnknownField }, type, bytes) as never;
}

describe('an entry for a log service', () => {
  it('has texts of any length, and replaces what is not UTF-8', () => {
    const texts = fc.oneof(fc.string({ unit: 'binary-ascii' }), fc.string({ maxLength: 20_000 }));
    fc.assert(
      fc.property(texts, fc.nat(), (text, bytes) => {
        const value = Buffer.from(text).toString('latin1');
        const info = streamInfo(requestHeaders('/', [['x-wanted', `${value}\xff`]]));
        info.bytesSent = bytes * 1024;
        const { request, response } = decoded(encodeEntry(info, CONFIG, [])) as never;
        assert.deepEqual(request['request_headers'], { 'x-wanted': `${text}!` });
        assert.equal(response['response_body_bytes'] ?? '0', String(bytes * 1024));
      }),
      { numRuns: 100 },
    );
  });

  it('has every value of dynamic metadata, those that are empty too', () => {
    const info = streamInfo();
    const values = {
      no: false,
      nothing: null,
      text: '',
      zero: 0,
      list: [1, [], {}],
      deep: { a: 'b' },
    };
    info.dynamicMetadata = new Map([['filter', structOf(values)]]);
    const { common_properties: common } = decoded(encodeEntry(info, CONFIG, [])) as never;
    assert.deepEqual(common['metadata'], { filter_metadata: { filter: values } });
  });

  it('says of a response what came of it', () => {
    const info = streamInfo();
    info.responseCode = 503;
    info.responseHeaders = headerMap([[':status', '503']]);
    info.responseCodeDetails = 'no_healthy_upstream';
    const { response } = decoded(encodeEntry(info, CONFIG, [])) as never;
    assert.equal(response['response_code'], 503);
    assert.equal(response['response_code_details'], 'no_healthy_upstream');
  });
});
