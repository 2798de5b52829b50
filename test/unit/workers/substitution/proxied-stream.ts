import { systemClock } from '../../../../shared/process/clock.ts';
import { type StreamInfo } from '../../../../workers/stream/stream-info.ts';
import { headerMap, ipAddress, requestHeaders, streamInfo } from '../../../support/parts/stream.ts';

/** A request that was proxied, of which formats can say everything. */

export const ENVIRONMENT = {
  clock: {
    ...systemClock,
    monotonicMs: () => 1007.5,
    wallMs: () => Date.UTC(2026, 10, 21, 11, 18, 54),
  },
  hostname: 'vm',
  variable: (name: string) => (name === 'HOME' ? '/root' : undefined),
};

export const KEEP = { omitEmptyValues: false };

export const OMIT = { omitEmptyValues: true };

export function proxied(): StreamInfo {
  const info = streamInfo(
    requestHeaders('/rw/x?a=b&c=&b=1%202&a=z', [
      ['x-h', 'req'],
      ['x-m', 'one'],
      ['x-m', 'two'],
      ['x-empty', ''],
      ['x-quoted', 'a"b\\c\td'],
      ['x-bytes', '\xc3\xa9\xff<'],
      ['x-utf8', '\xc3\xa9'],
      ['x-envoy-original-path', '/x?a=b&c=&b=1%202&a=z'],
    ]),
  );
  info.responseHeaders = headerMap([
    [':status', '200'],
    ['x-r', 't"q'],
    ['x-envoy-upstream-service-time', '3'],
  ]);
  info.responseCode = 200;
  info.responseCodeDetails = 'via_upstream';
  info.bytesReceived = 5;
  info.bytesSent = 205;
  info.endMs = 1012.9;
  info.lastDownstreamRxMs = 1000.4;
  info.firstUpstreamTxMs = 1002;
  info.lastUpstreamTxMs = 1002.0005;
  info.firstUpstreamRxMs = 1009.5;
  info.lastDownstreamTxMs = 1012;
  info.upstreamCluster = 'up';
  info.upstreamConnectionId = 2;
  info.upstreamHost = {
    id: '127.0.0.1:34449',
    address: '127.0.0.1:34449',
    ip: '127.0.0.1',
    port: 34_449,
    hostname: '',
    region: '',
    zone: '',
    subZone: '',
    metadata: undefined,
  };
  info.upstreamLocalAddress = ipAddress('127.0.0.1', 44_952);
  info.attemptCount = 1;
  return info;
}
