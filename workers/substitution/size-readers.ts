/** Substitution commands that count: bytes of bodies, headers and the wire. */
import { plain } from './reader-factory.ts';
import type { ReaderFactory } from './reader-factory.ts';
import type { Reader } from './reader-factory.ts';

const downstreamHeaderBytesReceived: Reader = (info) => info.downstreamHeaderBytesReceived;
const downstreamHeaderBytesSent: Reader = (info) => info.downstreamHeaderBytesSent;
const upstreamHeaderBytesReceived: Reader = (info) => info.upstreamHeaderBytesReceived;
const upstreamHeaderBytesSent: Reader = (info) => info.upstreamHeaderBytesSent;

export const SIZE_READERS = {
  BYTES_RECEIVED: plain((info) => info.bytesReceived),
  BYTES_SENT: plain((info) => info.bytesSent),
  BYTES_RETRANSMITTED: plain(() => 0),
  PACKETS_RETRANSMITTED: plain(() => 0),
  REQUEST_HEADERS_BYTES: plain((info) => info.requestHeaders?.byteSize() ?? 0),
  RESPONSE_HEADERS_BYTES: plain((info) => info.responseHeaders?.byteSize() ?? 0),
  RESPONSE_TRAILERS_BYTES: plain((info) => info.responseTrailers?.byteSize() ?? 0),
  DOWNSTREAM_HEADER_BYTES_RECEIVED: plain(downstreamHeaderBytesReceived),
  DOWNSTREAM_DECOMPRESSED_HEADER_BYTES_RECEIVED: plain(downstreamHeaderBytesReceived),
  DOWNSTREAM_HEADER_BYTES_SENT: plain(downstreamHeaderBytesSent),
  DOWNSTREAM_DECOMPRESSED_HEADER_BYTES_SENT: plain(downstreamHeaderBytesSent),
  DOWNSTREAM_WIRE_BYTES_RECEIVED: plain((info) => info.downstreamWireBytesReceived),
  DOWNSTREAM_WIRE_BYTES_SENT: plain((info) => info.downstreamWireBytesSent),
  UPSTREAM_HEADER_BYTES_RECEIVED: plain(upstreamHeaderBytesReceived),
  UPSTREAM_DECOMPRESSED_HEADER_BYTES_RECEIVED: plain(upstreamHeaderBytesReceived),
  UPSTREAM_HEADER_BYTES_SENT: plain(upstreamHeaderBytesSent),
  UPSTREAM_DECOMPRESSED_HEADER_BYTES_SENT: plain(upstreamHeaderBytesSent),
  UPSTREAM_WIRE_BYTES_RECEIVED: plain((info) => info.upstreamWireBytesReceived),
  UPSTREAM_WIRE_BYTES_SENT: plain((info) => info.upstreamWireBytesSent),
} satisfies Record<string, ReaderFactory>;
