/**
 * Reads from a connection manager's resource what its HTTP/2 codecs announce and allow, once for
 * all of its connections.
 */
import type { HttpConnectionManager } from '../../shared/resources/listener.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { Runtime } from '../loop/runtime.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { ServerCodecFactory } from '../stream/codec.ts';
import { Http2Stats } from './codec-stats.ts';
import { Setting } from './frames.ts';
import { mostBlockBytes } from './header-block.ts';
import { KeepAliveTimes } from './keep-alive.ts';
import { Http2ServerCodec, type Http2ServerParts } from './server-codec.ts';
import type { SessionOptions } from './session-user.ts';

export interface Http2CodecContext {
  readonly loop: WorkerLoop;
  readonly stats: StatWriter;
  readonly runtime: Runtime;
  readonly bufferLimitBytes: number;
}

export interface Http2ServerCodecs {
  readonly make: ServerCodecFactory;
  release(): void;
}

export function http2ServerCodecs(
  config: HttpConnectionManager,
  context: Http2CodecContext,
): Http2ServerCodecs {
  const { http2 } = config;
  const { loop } = context;
  const stats = new Http2Stats(context.stats, 'http2.');
  const { keepAlive } = http2;
  const isPinged = keepAlive !== undefined && keepAlive.intervalMs > 0;
  const parts: Http2ServerParts = {
    session: sessionOptions(config, context),
    message: {
      maxHeaderBytes: config.maxRequestHeadersKb * 1024,
      maxHeaderCount: config.maxRequestHeadersCount,
      allowConnect: http2.allowConnect,
    },
    endsStreamOnInvalidMessage: http2.endsStreamOnInvalidMessage,
    stats,
    loop,
    runtime: context.runtime,
    flushTimeout:
      config.streamFlushTimeoutMs > 0 ? loop.timers.list(config.streamFlushTimeoutMs) : undefined,
    keepAlive: isPinged ? new KeepAliveTimes(keepAlive, loop.timers) : undefined,
  };
  return {
    make: (wire, owner) => new Http2ServerCodec(wire, owner, parts),
    release: () => stats.release(),
  };
}

function sessionOptions(
  config: HttpConnectionManager,
  { loop, bufferLimitBytes }: Http2CodecContext,
): SessionOptions {
  const { http2 } = config;
  return {
    isServer: true,
    // In Envoy's order.
    settings: [
      ...http2.customSettings,
      [Setting.headerTableSize, http2.headerTableSize],
      [Setting.enableConnectProtocol, http2.allowConnect ? 1 : 0],
      [Setting.maxConcurrentStreams, http2.maxConcurrentStreams],
      [Setting.initialWindowSize, http2.streamWindowBytes],
    ],
    headerTableSize: http2.headerTableSize,
    maxConcurrentStreams: http2.maxConcurrentStreams,
    streamWindow: http2.streamWindowBytes,
    connectionWindow: http2.connectionWindowBytes,
    maxBlockBytes: mostBlockBytes(config.maxRequestHeadersKb * 1024),
    maxOutboundFrames: http2.maxOutboundFrames,
    maxOutboundControlFrames: http2.maxOutboundControlFrames,
    maxConsecutiveEmptyFrames: http2.maxConsecutiveEmptyFrames,
    maxPriorityFramesPerStream: http2.maxPriorityFramesPerStream,
    maxWindowUpdatesPerDataFrame: http2.maxWindowUpdatesPerDataFrame,
    resets: { burst: http2.resetBurst, rate: http2.resetRate, clock: loop.clock },
    maxHeaderTextBytes: http2.maxHeaderTextBytes,
    usesHuffman: http2.usesHuffman,
    streamBufferBytes: bufferLimitBytes,
    maxMetadataBytes: http2.maxMetadataBytes,
  };
}
