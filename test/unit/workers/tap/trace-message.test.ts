/** A tap's record in its forms, read back with the API's own messages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiCatalog } from '../../../../supervisor/config/api/api-catalog.ts';
import { printTextFormat } from '../../../../supervisor/config/convert/text-format-printer.ts';
import { messageFromBinary, messageFromJson } from '../../../../supervisor/config/message-codec.ts';
import { repairUtf8 } from '../../../../workers/tap/repair-utf8.ts';
import { RequestTap } from '../../../../workers/tap/request-tap.ts';
import { compileTapMatch } from '../../../../workers/tap/tap-matcher.ts';
import type { TapFormat, TapSettings } from '../../../../shared/resources/tap.ts';
import { headerMap, requestHeaders, streamInfo } from '../../../support/parts/stream.ts';

const TYPE = 'envoy.data.tap.v3.TraceWrapper';
const catalog = new ApiCatalog();
const codec = {
  catalog,
  sink: { report: (problem: object) => assert.fail(JSON.stringify(problem)) },
  unknownFields: 'refuse',
} as const;

function record(format: TapFormat, streaming = false): Buffer[] {
  const written: Buffer[] = [];
  const settings: TapSettings = {
    match: { kind: 'any' },
    enabled: { numerator: 100, denominator: 10_000 },
    maxRequestBytes: 4,
    maxResponseBytes: 100,
    streaming,
    format,
    sink: { kind: 'admin' },
  };
  const tap = new RequestTap({
    tap: {
      settings,
      matcher: compileTapMatch(settings.match),
      sink: { open: () => ({ write: (bytes) => written.push(bytes), end: () => undefined }) },
    },
    info: streamInfo(),
    traceId: 0xffff_ffff_ffff_fffen,
    recordsReceivedTime: true,
    recordsDownstreamConnection: true,
    recordsUpstreamConnection: true,
    nowMs: () => 1_700_000_000_123.456,
  });
  tap.onHeaders('request', requestHeaders('/', [['x-tap', 'a"\xff']]));
  tap.onBody('request', Buffer.from('question'));
  tap.onHeaders(
    'response',
    headerMap(
      [['x-answer', 'é']].map(([name, value]) => [
        name ?? '',
        Buffer.from(value ?? '').toString('latin1'),
      ]),
    ),
  );
  tap.onBody('response', Buffer.from([0, 0xff]));
  tap.onTrailers('response', headerMap([['x-end', '1']]));
  assert.equal(tap.end(), true);
  return written;
}

test('binary and text say the same as JSON', () => {
  const [binary = Buffer.alloc(0)] = record('PROTO_BINARY');
  const message = messageFromBinary(codec, TYPE, binary);
  const [json = Buffer.alloc(0)] = record('JSON_BODY_AS_BYTES');
  const { http_buffered_trace: fromJson } = messageFromJson(
    codec,
    TYPE,
    JSON.parse(json.toString()),
  ) as Record<string, unknown>;
  // JSON prints what is at its default; reading drops it again but for lists.
  const empty = (_key: string, value: unknown): unknown =>
    Array.isArray(value) && value.length === 0 ? undefined : value;
  assert.deepEqual(
    JSON.parse(JSON.stringify(message?.['http_buffered_trace'])),
    JSON.parse(JSON.stringify(fromJson, empty)),
  );
  const [text = Buffer.alloc(0)] = record('PROTO_TEXT');
  assert.equal(text.toString(), printTextFormat(catalog, catalog.message(TYPE), message));
});

test('a delimited record stands behind its length', () => {
  const [plain = Buffer.alloc(0)] = record('PROTO_BINARY');
  const [delimited = Buffer.alloc(0)] = record('PROTO_BINARY_LENGTH_DELIMITED');
  assert.ok(plain.length > 128 && plain.length < 128 * 128);
  const length = Buffer.from([(plain.length & 0x7f) | 0x80, plain.length >> 7]);
  assert.deepEqual(delimited, Buffer.concat([length, plain]));
});

test('a streamed request is a record for each part, all with one id, the share in the first', () => {
  const records = record('JSON_BODY_AS_STRING', true).map(
    (bytes) => JSON.parse(bytes.toString()) as Record<string, Record<string, unknown>>,
  );
  const parts = records.map(({ http_streamed_trace_segment: segment = {} }) => {
    assert.equal(segment['trace_id'], '18446744073709551614');
    return Object.keys(segment)[1];
  });
  assert.deepEqual(parts, [
    'request_headers',
    'request_body_chunk',
    'response_headers',
    'response_body_chunk',
    'response_trailers',
  ]);
  assert.deepEqual(
    records.map((one) => 'configured_sample_rate' in one),
    [true, false, false, false, false],
  );
  assert.deepEqual(records[1]?.['http_streamed_trace_segment']?.['request_body_chunk'], {
    as_string: 'ques',
    truncated: true,
  });
  assert.deepEqual(records[3]?.['http_streamed_trace_segment']?.['response_body_chunk'], {
    as_string: '\0 ',
    truncated: false,
  });
});

test('bytes that are not UTF-8 are replaced one by one', () => {
  const cases: readonly (readonly [Buffer, string])[] = [
    [Buffer.from('plain'), 'plain'],
    [Buffer.from('é€😀'), 'é€😀'],
    [Buffer.from([0x61, 0xff, 0xfe, 0x62]), 'a!!b'],
    [Buffer.from([0xe2, 0x82]), '!!'],
    [Buffer.from([0xc3, 0xa9, 0xc3]), 'é!'],
    [Buffer.from([0xed, 0xa0, 0x80]), '!!!'],
  ];
  for (const [bytes, expected] of cases) {
    const repaired = Buffer.from(repairUtf8(bytes.toString('latin1'), '!'), 'latin1');
    assert.equal(repaired.toString('utf8'), expected);
  }
});
