/** An attempt whose messages pass filters between the exchange and the codec. */
import type { FilterFactory } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import type { UpstreamHost } from '../../upstream/hosts/host.ts';
import type { StreamSource } from '../../upstream/pools/http-pool.ts';
import { AttemptFilters } from './attempt-filters.ts';
import type { AttemptOptions, UpstreamRequestOwner } from './attempt-seam.ts';
import { UpstreamRequest } from './upstream-request.ts';

interface FilteredTarget {
  readonly host: UpstreamHost;
  readonly pool: StreamSource;
  /** The facts of the request. */
  readonly info: StreamInfo;
}

interface FilteredOptions extends AttemptOptions {
  /** At least one. */
  readonly filters: readonly FilterFactory[];
}

export class FilteredRequest extends UpstreamRequest {
  readonly #filters: AttemptFilters;
  readonly #head: HeaderMap;
  readonly #endsWithHead: boolean;

  constructor(
    owner: UpstreamRequestOwner,
    target: FilteredTarget,
    headers: HeaderMap,
    options: FilteredOptions,
  ) {
    const { bufferLimitBytes, loop } = options;
    const filters = new AttemptFilters(owner, { info: target.info, bufferLimitBytes, loop });
    super(filters, target, headers, { ...options, isHeadHeld: true });
    this.#head = headers;
    this.#endsWithHead = options.endStream;
    this.#filters = filters;
    filters.begin(this, options.filters, {
      decodeHeaders: (_, endStream) => this.headPassed(endStream),
      decodeData: (data, endStream) => super.sendData(data, endStream),
      decodeTrailers: (trailers) => super.sendTrailers(trailers),
    });
  }

  /**
   * The connection is asked for first, as in Envoy: filters cost no time before it is there. They
   * know the host.
   */
  override start(): void {
    super.start();
    this.#filters.decodeHeaders(this.host, this.#head, this.#endsWithHead);
  }

  override sendData(data: Buffer, endStream: boolean): void {
    this.#filters.decodeData(data, endStream);
  }

  override sendTrailers(trailers: HeaderMap): void {
    this.#filters.decodeTrailers(trailers);
  }

  override pauseResponse(paused: boolean): void {
    this.#filters.notePause(paused);
    super.pauseResponse(paused);
  }

  override cancel(): void {
    this.#filters.end();
    super.cancel();
  }
}
