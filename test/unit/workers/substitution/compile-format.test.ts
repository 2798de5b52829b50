import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { packCel } from '../../../../shared/cel/expression.ts';
import { COMMANDS } from '../../../../shared/substitution/commands.ts';
import type { JsonFormatValue } from '../../../../shared/resources/access-log.ts';
import { ResponseFlag } from '../../../../workers/stream/response-flags.ts';
import type { StreamInfo } from '../../../../workers/stream/stream-info.ts';
import {
  compileJsonFormat,
  compileTextFormat,
  literalOf,
} from '../../../../workers/substitution/compile-format.ts';
import {
  connectionInfo,
  headerMap,
  requestHeaders,
  streamInfo,
} from '../../../support/parts/stream.ts';
import { ENVIRONMENT, KEEP, OMIT, proxied } from './proxied-stream.ts';

function text(format: string, info: StreamInfo, options = KEEP): string {
  return compileTextFormat(format, options, ENVIRONMENT)(info);
}

function json(format: JsonFormatValue, info: StreamInfo, options = KEEP): string {
  return compileJsonFormat(format, options, ENVIRONMENT)(info);
}

function checkAll(info: StreamInfo, table: readonly (readonly [string, string])[]): void {
  for (const [format, expected] of table) assert.equal(text(format, info), expected, format);
}

// Expectations were recorded from Envoy 1.40.0.
describe('text formats', () => {
  it('print headers: first value, alternative, missing, cut', () => {
    checkAll(proxied(), [
      ['%REQ(x-m)%', 'one'],
      ['%REQ(none?x-h)%', 'req'],
      ['%REQ(X-H?x-m)%', 'req'],
      ['%REQ(x-empty)%', ''],
      ['%REQ(none)%', '-'],
      ['%REQ(x-h):2%', 're'],
      ['%REQ(x-h):0%', ''],
      ['%REQ(x-bytes):3%', '\xc3\xa9\xff'],
      ['%REQ(:authority)%', 'h'],
      ['%RESP(x-r)%', 't"q'],
      ['%RESP(:status)%', '200'],
      ['%TRAILER(x)%', '-'],
    ]);
  });

  it('print the path as the client sent it or as it is now', () => {
    checkAll(proxied(), [
      ['%PATH%', '/x?a=b&c=&b=1%202&a=z'],
      ['%PATH(NQ)%', '/x'],
      ['%PATH(NQ:PATH)%', '/rw/x'],
      ['%PATH(WQ:ORIG)%', '/x?a=b&c=&b=1%202&a=z'],
      ['%PATH:4%', '/x?a'],
      ['%QUERY_PARAM(a)%', 'b'],
      ['%QUERY_PARAM(b)%', '1 2'],
      ['%QUERY_PARAM(c)%', ''],
      ['%QUERY_PARAM(zz)%', '-'],
      ['%QUERY_PARAMS%', 'a=b&c=&b=1%202&a=z'],
    ]);
  });

  it('print durations in whole milliseconds, and nothing before the moment came', () => {
    checkAll(proxied(), [
      ['%DURATION%', '12'],
      ['%REQUEST_DURATION%', '0'],
      ['%REQUEST_TX_DURATION%', '2'],
      ['%RESPONSE_DURATION%', '9'],
      ['%RESPONSE_TX_DURATION%', '2'],
      ['%COMMON_DURATION(US_TX_BEG:US_RX_BEG:us)%', '7500'],
      ['%COMMON_DURATION(DS_TX_END:DS_RX_BEG)%', '-'],
      ['%COMMON_DURATION(foo:DS_TX_END)%', '-'],
    ]);
    checkAll(streamInfo(), [
      ['%DURATION%', '7'],
      ['%RESPONSE_DURATION%', '-'],
    ]);
  });

  it('print addresses, ports and networks', () => {
    const remoteAddress = {
      kind: 'ip',
      ip: '2001:db8:1:2::3',
      port: 0,
      text: '[2001:db8:1:2::3]:0',
    };
    const v6 = streamInfo(
      requestHeaders(),
      connectionInfo({ remoteAddress: { ...remoteAddress, kind: 'ip' } }),
    );
    checkAll(v6, [
      ['%DOWNSTREAM_REMOTE_ADDRESS%', '[2001:db8:1:2::3]:0'],
      ['%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%', '2001:db8:1:2::3'],
      ['%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT(48)%', '2001:db8:1::/48'],
      ['%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT(0)%', '::/0'],
    ]);
    checkAll(proxied(), [
      ['%DOWNSTREAM_REMOTE_ADDRESS%', '127.0.0.1:50000'],
      ['%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT(16)%', '127.0.0.0/16'],
      ['%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT(64)%', '127.0.0.1/32'],
      ['%DOWNSTREAM_LOCAL_PORT%', '8080'],
      ['%UPSTREAM_HOST% %UPSTREAM_HOST_NAME_WITHOUT_PORT%', '127.0.0.1:34449 127.0.0.1'],
      ['%UPSTREAM_LOCAL_ADDRESS%', '127.0.0.1:44952'],
      ['%UPSTREAM_HOSTS_ATTEMPTED%', '127.0.0.1:34449'],
    ]);
  });

  it('print flags in Envoy’s order', () => {
    const info = streamInfo();
    assert.equal(text('%RESPONSE_FLAGS%', info), '-');
    info.responseFlags = ResponseFlag.upstreamConnectionFailure | ResponseFlag.noHealthyUpstream;
    assert.equal(text('%RESPONSE_FLAGS%', info), 'UH,UF');
    assert.equal(
      text('%RESPONSE_FLAGS_LONG%', info),
      'NoHealthyUpstream,UpstreamConnectionFailure',
    );
  });

  it('print the gRPC status from trailers, headers or the HTTP status', () => {
    const grpc = [['content-type', 'application/grpc']] as const;
    const info = streamInfo(requestHeaders('/', grpc));
    info.responseCode = 503;
    checkAll(info, [['%GRPC_STATUS% %GRPC_STATUS(NUMBER)%', 'Unavailable 14']]);
    info.responseCode = 200;
    checkAll(info, [['%GRPC_STATUS(SNAKE_STRING)%', 'UNKNOWN']]);
    info.responseHeaders = headerMap([['grpc-status', '7']]);
    checkAll(info, [
      ['%GRPC_STATUS% %GRPC_STATUS(SNAKE_STRING)%', 'PermissionDenied PERMISSION_DENIED'],
    ]);
    info.responseTrailers = headerMap([['grpc-status', '99']]);
    checkAll(info, [['%GRPC_STATUS%', '99']]);
    info.responseTrailers = headerMap([['grpc-status', 'abc']]);
    checkAll(info, [['%GRPC_STATUS_NUMBER%', '-1']]);
    assert.equal(text('%GRPC_STATUS%', proxied()), '-');
  });

  it('print metadata by path, whole or in part', () => {
    const info = streamInfo();
    info.dynamicMetadata = new Map([
      ['ns', { s: 'v"q', n: 5, b: true, nul: null, st: { k2: 2, k: 'é' } }],
    ]);
    checkAll(info, [
      ['%DYNAMIC_METADATA(ns:s)%', 'v"q'],
      ['%DYNAMIC_METADATA(ns:n)%', '5'],
      ['%METADATA(DYNAMIC:ns:b)%', 'true'],
      ['%DYNAMIC_METADATA(ns:nul)%', '-'],
      ['%DYNAMIC_METADATA(ns:st)%', '{"k":"\xc3\xa9","k2":2}'],
      ['%DYNAMIC_METADATA(ns:st:k2)%', '2'],
      ['%DYNAMIC_METADATA(ns:toString)%', '-'],
      ['%METADATA(LISTENER:ns)%', '-'],
    ]);
  });

  it('read x-forwarded-client-cert', () => {
    const value =
      'By=http://b;Hash=abc;Subject="CN=a,O=\\"b\\"";URI=spiffe://x;URI=spiffe://y;DNS=d1,By=c';
    const info = streamInfo(requestHeaders('/', [['x-forwarded-client-cert', value]]));
    checkAll(info, [
      ['%XFCC_VALUE(by)% %XFCC_VALUE(hash)% %XFCC_VALUE(dns)%', 'http://b abc d1'],
      ['%XFCC_VALUE(subject)%', 'CN=a,O="b"'],
      ['%XFCC_VALUE(uri)% %XFCC_VALUE(cert)%', 'spiffe://x -'],
    ]);
    const open = streamInfo(requestHeaders('/', [['x-forwarded-client-cert', 'Subject="open']]));
    assert.equal(text('%XFCC_VALUE(subject)%', open), '-');
  });

  it('choose with COALESCE, know the host and the environment', () => {
    const choice =
      '{"operators":[{"command":"REQ","param":"none"},{"command":"REQ","param":"x-h","max_length":2}]}';
    checkAll(proxied(), [
      [`%COALESCE(${choice})%`, 're'],
      ['%COALESCE({"operators":["HOSTNAME"]}):1%', 'v'],
      ['%HOSTNAME% %ENVIRONMENT(HOME)% %ENVIRONMENT(NOPE)% %ENVIRONMENT(HOME):2%', 'vm /root - /r'],
      ['%START_TIME% %START_TIME(%Y)%', '2026-11-21T11:18:53.257Z 2026'],
      ['%EMIT_TIME%', '2026-11-21T11:18:54.000Z'],
    ]);
  });

  it('prefer the host or the server name as told', () => {
    const info = streamInfo(requestHeaders(), connectionInfo({ requestedServerName: 'sni' }));
    checkAll(info, [
      ['%REQUESTED_SERVER_NAME% %REQUESTED_SERVER_NAME(SNI_FIRST)%', 'sni sni'],
      ['%REQUESTED_SERVER_NAME(HOST_FIRST)% %REQUESTED_SERVER_NAME(HOST_FIRST:ORIG)%', 'h sni'],
    ]);
    checkAll(streamInfo(), [['%REQUESTED_SERVER_NAME% %REQUESTED_SERVER_NAME(SNI_FIRST)%', '- h']]);
  });

  it('leave out missing values when asked to', () => {
    assert.equal(text('a%REQ(none)%b%REQ(x-empty)%c%RESPONSE_FLAGS%', proxied(), OMIT), 'abc-');
  });

  it('keep literal text in bytes and a doubled percent sign single', () => {
    assert.equal(text('\xc3\xa9100%%\n', streamInfo()), '\xc3\xa9100%\n');
    assert.equal(literalOf('\xc3\xa9100%%'), '\xc3\xa9100%');
    assert.equal(literalOf(''), '');
    assert.equal(literalOf('%PROTOCOL%'), undefined);
    assert.throws(() => text('%NOPE%', streamInfo()), /cannot compile the format %NOPE%/);
  });

  it('exist for every command and stand an empty stream', () => {
    const sample = { header: '(x)', keys: '(a:b)', word: '(x)', time: '', command_only: '' };
    for (const [name, syntax] of Object.entries(COMMANDS)) {
      const argument = SPECIAL[name] ?? (syntax.required ? sample[syntax.form] : '');
      assert.equal(typeof text(`%${name}${argument}%`, streamInfo()), 'string', name);
      assert.ok(JSON.parse(json({ a: `%${name}${argument}%` }, streamInfo())), name);
    }
  });
});

const SPECIAL: Readonly<Record<string, string>> = {
  CEL: `(${packCel({ kind: 'list', items: [] })})`,
  TYPED_CEL: `(${packCel({ kind: 'list', items: [] })})`,
  COALESCE: '({"operators":["HOSTNAME"]})',
  COMMON_DURATION: '(DS_RX_BEG:DS_TX_END)',
  METADATA: '(ROUTE:a)',
  FILTER_STATE: '(a)',
  UPSTREAM_FILTER_STATE: '(a)',
  XFCC_VALUE: '(uri)',
};
