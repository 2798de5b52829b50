/** What listeners of tests speak HTTP/2 with: Envoy's defaults. */
import type { Http2Options } from '../../../shared/resources/http2-options.ts';

const MIB = 1024 * 1024;

export const HTTP2_OPTIONS: Http2Options = {
  headerTableSize: 4096,
  maxConcurrentStreams: 1024,
  streamWindowBytes: 16 * MIB,
  connectionWindowBytes: 24 * MIB,
  maxMetadataBytes: 0,
  allowConnect: false,
  maxOutboundFrames: 10_000,
  maxOutboundControlFrames: 1_000,
  maxConsecutiveEmptyFrames: 1,
  maxPriorityFramesPerStream: 100,
  maxWindowUpdatesPerDataFrame: 10,
  resetBurst: 1000,
  resetRate: 33,
  maxHeaderTextBytes: 65_536,
  usesHuffman: false,
  endsStreamOnInvalidMessage: false,
  customSettings: [],
};
