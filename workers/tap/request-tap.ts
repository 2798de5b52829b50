/**
 * Records one request and its answer: keeps what passes, up to the tap's limits, and gives records
 * to the sink as soon as (streaming) or once (buffered) the request is known to match.
 */
import type { TapFilterOptions, TapSettings } from '../../shared/resources/tap.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import type { MatchProgress, TapMatcher } from './tap-matcher.ts';
import { formatTrace, type TapSink, type TraceOutput } from './tap-sink.ts';
import { field, message, type TraceField } from './trace-message.ts';
import { bodyFields, connectionFields, headerValues, sampleRate } from './trace-parts.ts';

/** A tap in force: settings, compiled, with the place where records go. */
export interface ActiveTap {
  readonly settings: TapSettings;
  readonly matcher: TapMatcher;
  readonly sink: TapSink;
}

export interface RequestTapOptions extends Omit<TapFilterOptions, 'source'> {
  readonly tap: ActiveTap;
  readonly info: StreamInfo;
  readonly traceId: bigint;
  /** Unix milliseconds. */
  nowMs(): number;
}

type Direction = 'request' | 'response';

/** One direction of the exchange, as far as it is known. */
interface Side {
  headers: HeaderMap | undefined;
  headersAtMs: number;
  body: Buffer[];
  bodyBytes: number;
  isTruncated: boolean;
  trailers: HeaderMap | undefined;
}

/** Numbers of HttpStreamedTraceSegment's fields. */
const SEGMENTS = {
  request: { headers: 2, body: 3, trailers: 4 },
  response: { headers: 5, body: 6, trailers: 7 },
} as const;

export class RequestTap {
  readonly #options: RequestTapOptions;
  readonly #settings: TapSettings;
  readonly #progress: MatchProgress;
  readonly #sides: Record<Direction, Side> = { request: emptySide(), response: emptySide() };
  #output: TraceOutput | undefined;
  #isStreaming = false;

  constructor(options: RequestTapOptions) {
    this.#options = options;
    this.#settings = options.tap.settings;
    this.#progress = options.tap.matcher();
  }

  onHeaders(of: Direction, headers: HeaderMap): void {
    const side = this.#sides[of];
    side.headers = headers;
    side.headersAtMs = this.#options.nowMs();
    this.#progress.onHeaders(`${of}_headers`, headers);
    this.#stream(of, () => this.#segment(of, 'headers'));
  }

  onBody(of: Direction, data: Buffer): void {
    if (data.length === 0) return;
    this.#progress.onBody(of, data);
    const { maxRequestBytes, maxResponseBytes } = this.#settings;
    const limit = of === 'request' ? maxRequestBytes : maxResponseBytes;
    if (this.#isStreaming) {
      const kept = Buffer.from(data.subarray(0, limit));
      return this.#writeSegment(
        SEGMENTS[of].body,
        bodyName(of),
        bodyFields(kept, data.length > limit),
      );
    }
    const side = this.#sides[of];
    const kept = Buffer.from(data.subarray(0, Math.max(0, limit - side.bodyBytes)));
    if (kept.length < data.length) side.isTruncated = true;
    if (kept.length > 0) side.body.push(kept);
    side.bodyBytes += kept.length;
    this.#stream(of, () => this.#segment(of, 'body'));
  }

  onTrailers(of: Direction, trailers: HeaderMap): void {
    this.#sides[of].trailers = trailers;
    this.#progress.onHeaders(`${of}_trailers`, trailers);
    this.#stream(of, () => this.#segment(of, 'trailers'));
  }

  /** The stream is over. True when it was recorded. */
  end(): boolean {
    const { matches } = this.#progress.status;
    if (matches && !this.#settings.streaming) this.#write(this.#bufferedTrace());
    this.#output?.end();
    return matches;
  }

  /** Begins to stream with what is there, or goes on with the newest part. */
  #stream(of: Direction, goOn: () => void): void {
    if (!this.#settings.streaming) return;
    if (this.#isStreaming) return goOn();
    if (!this.#progress.status.matches) return;
    this.#isStreaming = true;
    const sides: readonly Direction[] = of === 'request' ? ['request'] : ['request', 'response'];
    for (const side of sides) {
      for (const part of ['headers', 'body', 'trailers'] as const) this.#segment(side, part);
    }
  }

  #segment(of: Direction, part: 'headers' | 'body' | 'trailers'): void {
    const side = this.#sides[of];
    const number = SEGMENTS[of][part];
    if (part === 'body') {
      if (side.body.length === 0) return;
      const bytes = Buffer.concat(side.body);
      side.body = [];
      return this.#writeSegment(number, bodyName(of), bodyFields(bytes, side.isTruncated));
    }
    const map = side[part];
    if (map === undefined) return;
    const headers = field(1, 'headers', headerValues(map));
    this.#writeSegment(number, `${of}_${part}`, [headers]);
  }

  #writeSegment(number: number, name: string, fields: readonly TraceField[]): void {
    const { traceId } = this.#options;
    const isFirst = this.#output === undefined;
    const segment = message(2, 'http_streamed_trace_segment', [
      field(1, 'trace_id', { kind: 'uint64', value: traceId }),
      message(number, name, fields),
    ]);
    this.#write([segment, ...(isFirst ? this.#sampleRate() : [])]);
  }

  #bufferedTrace(): readonly TraceField[] {
    const { info, recordsDownstreamConnection, recordsUpstreamConnection } = this.#options;
    const { connection, upstreamLocalAddress, upstreamHost } = info;
    const fields = [
      message(1, 'request', this.#messageFields('request')),
      message(2, 'response', this.#messageFields('response')),
    ];
    if (recordsDownstreamConnection) {
      const ends = connectionFields(connection.localAddress, connection.remoteAddress);
      fields.push(message(3, 'downstream_connection', ends));
    }
    if (recordsUpstreamConnection && upstreamHost !== undefined) {
      const { id, ip, port } = upstreamHost;
      const remote = { kind: ip === '' ? 'pipe' : 'ip', ip, port, text: id } as const;
      const ends = connectionFields(upstreamLocalAddress, remote);
      fields.push(message(4, 'upstream_connection', ends));
    }
    return [message(1, 'http_buffered_trace', fields), ...this.#sampleRate()];
  }

  #messageFields(of: Direction): readonly TraceField[] {
    const { headers, headersAtMs, body, isTruncated, trailers } = this.#sides[of];
    if (headers === undefined) return [];
    const fields = [field(1, 'headers', headerValues(headers))];
    if (body.length > 0)
      fields.push(message(2, 'body', bodyFields(Buffer.concat(body), isTruncated)));
    const none = { kind: 'messages', items: [] } as const;
    fields.push(field(3, 'trailers', trailers === undefined ? none : headerValues(trailers)));
    if (this.#options.recordsReceivedTime) {
      fields.push(field(4, 'headers_received_time', { kind: 'timestamp', ms: headersAtMs }));
    }
    return fields;
  }

  #sampleRate(): readonly TraceField[] {
    const { enabled } = this.#settings;
    return enabled === undefined ? [] : [message(5, 'configured_sample_rate', sampleRate(enabled))];
  }

  #write(trace: readonly TraceField[]): void {
    const { tap, traceId } = this.#options;
    const { format } = this.#settings;
    this.#output ??= tap.sink.open(traceId, format);
    this.#output.write(formatTrace(trace, format));
  }
}

function bodyName(of: Direction): string {
  return `${of}_body_chunk`;
}

function emptySide(): Side {
  return {
    headers: undefined,
    headersAtMs: 0,
    body: [],
    bodyBytes: 0,
    isTruncated: false,
    trailers: undefined,
  };
}
