/**
 * Reads from a connection manager's resource what its HTTP/1 codecs allow and how they write, once
 * for all of its connections.
 */
import { compileStringMatcher } from '../../shared/matchers/string-matcher.ts';
import type { HttpConnectionManager } from '../../shared/resources/listener.ts';
import type { ServerCodecFactory } from '../stream/codec.ts';
import type { Http1ServerLimits } from './response-writer.ts';
import { Http1ServerCodec } from './server-codec.ts';

export function http1ServerCodecs(config: HttpConnectionManager): ServerCodecFactory {
  const { http1 } = config;
  const ignored = (http1.ignoredUpgrades ?? []).map(compileStringMatcher);
  const limits: Http1ServerLimits = {
    acceptHttp10: http1.acceptHttp10,
    allowAbsoluteUrl: http1.allowAbsoluteUrl,
    defaultHostForHttp10: http1.defaultHostForHttp10,
    ...(http1.allowsAnyMethod === true && { allowsAnyMethod: true }),
    maxHeaderBytes: config.maxRequestHeadersKb * 1024,
    maxHeaderCount: config.maxRequestHeadersCount,
    enableTrailers: http1.enableTrailers,
    allowChunkedLength: http1.allowChunkedLength,
    headerCase: http1.headerCase,
    ...(ignored.length > 0 && {
      ignoresUpgrade: (protocol: string) => ignored.some((matches) => matches(protocol)),
    }),
  };
  return (wire, owner) => new Http1ServerCodec(wire, owner, limits);
}
