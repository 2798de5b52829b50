/** A stream as modules that log it see it; parts are made when they are asked for. */
import type { LoggedHeaders, LogEntry } from '../../../../shared/scripts/access-logger.ts';
import type { Connection } from '../../../../shared/scripts/context.ts';
import { connectionOf } from '../../../net/shown-connection.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { ReadHeaders } from '../../../stream/read-headers.ts';
import { RESPONSE_FLAG_NAMES } from '../../../stream/response-flags.ts';
import { filterStateOf, type StreamInfo } from '../../../stream/stream-info.ts';

export class StreamEntry implements LogEntry {
  readonly #info: StreamInfo;
  readonly #nowMs: number;

  constructor(info: StreamInfo, nowMs: number) {
    this.#info = info;
    this.#nowMs = nowMs;
  }

  get method(): string {
    return this.#info.requestHeaders?.method ?? '';
  }

  get path(): string {
    return this.#info.requestHeaders?.path ?? '';
  }

  get authority(): string {
    return this.#info.requestHeaders?.authority ?? '';
  }

  get protocol(): string {
    return this.#info.protocol ?? '';
  }

  get requestId(): string {
    return this.#info.requestId;
  }

  get request(): LoggedHeaders | undefined {
    return headersOf(this.#info.requestHeaders);
  }

  get response(): LoggedHeaders | undefined {
    return headersOf(this.#info.responseHeaders);
  }

  get responseTrailers(): LoggedHeaders | undefined {
    return headersOf(this.#info.responseTrailers);
  }

  get status(): number {
    return this.#info.responseCode;
  }

  get details(): string {
    return this.#info.responseCodeDetails;
  }

  get flags(): readonly string[] {
    const { responseFlags } = this.#info;
    if (responseFlags === 0) return [];
    return RESPONSE_FLAG_NAMES.filter(([bit]) => (responseFlags & bit) !== 0).map(
      ([, short]) => short,
    );
  }

  get bytesReceived(): number {
    return this.#info.bytesReceived;
  }

  get bytesSent(): number {
    return this.#info.bytesSent;
  }

  get startTime(): Date {
    return new Date(this.#info.startWallMs);
  }

  get durationMs(): number {
    const { startMs, endMs } = this.#info;
    return (endMs < 0 ? this.#nowMs : endMs) - startMs;
  }

  get attempts(): number {
    return this.#info.attemptCount;
  }

  get clientAddress(): string {
    return this.#info.downstreamRemoteAddress.text;
  }

  get connection(): Connection {
    return connectionOf(this.#info.connection);
  }

  get route(): LogEntry['route'] {
    const { routeName: name, virtualHostName: virtualHost, upstreamCluster: cluster } = this.#info;
    return { name, virtualHost, cluster };
  }

  get upstreamHost(): string {
    return this.#info.upstreamHost?.address ?? '';
  }

  getMetadata(namespace: string, key: string): unknown {
    const values = this.#info.dynamicMetadata?.get(namespace);
    return values !== undefined && Object.hasOwn(values, key) ? values[key] : undefined;
  }

  getFilterState(key: string): string | undefined {
    return filterStateOf(this.#info, key);
  }
}

function headersOf(map: HeaderMap | undefined): LoggedHeaders | undefined {
  return map && new ReadHeaders(map);
}
