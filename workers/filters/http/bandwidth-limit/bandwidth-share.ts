/**
 * Divides a bandwidth that all workers share between tenants by weight, once it does not suffice.
 * Source: envoy.filters.http.bandwidth_share.
 */
import type {
  BandwidthShareFilterSettings,
  BandwidthShareOptions,
  TenantOptions,
} from '../../../../shared/resources/filters/http/limits/bandwidth-share.ts';
import { compileMatcherTree, type TreeMatcher } from '../../../matching/matcher-tree.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  TrailersStatus,
} from '../../../stream/filter.ts';
import { HeaderMap } from '../../../stream/header-map.ts';
import type { StreamInfo } from '../../../stream/stream-info.ts';
import { compileLineFormat, type Formatter } from '../../../substitution/compile-format.ts';
import { CompiledSettings, type FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';
import { bandwidthShare } from './bandwidth-shares.ts';
import { type ShareStats, ShareStatsTable } from './share-stats.ts';
import { type Share, SharedBody, type SharedBodyOwner } from './shared-body.ts';

interface CompiledShare {
  readonly options: BandwidthShareOptions;
  readonly request: Share | undefined;
  readonly response: Share | undefined;
  readonly nameOf: TreeMatcher<Formatter> | undefined;
  readonly tenants: ReadonlyMap<string, TenantOptions>;
}

interface FilterParts {
  readonly context: FilterContext;
  readonly table: ShareStatsTable;
}

export function makeBandwidthShareFilter(
  { name, options: own }: BandwidthShareFilterSettings,
  context: FilterContext,
): FilterFactory {
  const compiled = new CompiledSettings((options: BandwidthShareOptions): CompiledShare => {
    const { request, response, tenantName } = options;
    return {
      options,
      request: request && bandwidthShare(request, options, context),
      response: response && bandwidthShare(response, options, context),
      nameOf:
        tenantName &&
        compileMatcherTree(tenantName, ({ format }) => compileLineFormat(format), context.runtime),
      tenants: new Map(options.tenants),
    };
  });
  const parts: FilterParts = { context, table: new ShareStatsTable(context) };
  return {
    name,
    create: (callbacks) => {
      const ofRoute = callbacks.routeConfig(name) as BandwidthShareOptions | undefined;
      return new BandwidthShareFilter(compiled.of(ofRoute ?? own), parts, callbacks);
    },
  };
}

class BandwidthShareFilter extends PassThroughFilter {
  readonly #share: CompiledShare;
  readonly #parts: FilterParts;
  readonly #callbacks: FilterCallbacks;
  #tenant = '';
  #request: SharedBody | undefined = undefined;
  #response: SharedBody | undefined = undefined;

  constructor(share: CompiledShare, parts: FilterParts, callbacks: FilterCallbacks) {
    super();
    this.#share = share;
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const { request, response, nameOf } = this.#share;
    if (request === undefined && response === undefined) return 'continue';
    const { info } = this.#callbacks;
    const format = nameOf?.(headers, info);
    if (format !== undefined) this.#tenant = nameWithoutHeaders(format, info);
    this.#request = this.#body('request', request);
    return 'continue';
  }

  override decodeData(data: Buffer, endStream: boolean): DataStatus {
    if (this.#request === undefined) return 'continue';
    this.#request.write(data, endStream);
    return 'taken';
  }

  override decodeTrailers(trailers: HeaderMap): TrailersStatus {
    if (this.#request === undefined) return 'continue';
    this.#request.end(trailers);
    return 'taken';
  }

  override encodeHeaders(): HeadersStatus {
    this.#response = this.#body('response', this.#share.response);
    return 'continue';
  }

  override encodeData(data: Buffer, endStream: boolean): DataStatus {
    if (this.#response === undefined) return 'continue';
    this.#response.write(data, endStream);
    return 'taken';
  }

  override encodeTrailers(trailers: HeaderMap): TrailersStatus {
    if (this.#response === undefined) return 'continue';
    this.#response.end(trailers);
    return 'taken';
  }

  override onDestroy(): void {
    this.#request?.destroy();
    this.#response?.destroy();
  }

  #body(direction: 'request' | 'response', share: Share | undefined): SharedBody | undefined {
    if (share?.bucket() === undefined) return undefined;
    const { context, table } = this.#parts;
    const { options, tenants } = this.#share;
    const { weight, hasOwnStats } = tenants.get(this.#tenant) ?? options.otherTenants;
    const bucketId = options[direction]?.bucketId ?? '';
    const { stats, loop, bufferLimitBytes } = context;
    const statsOf = (): ShareStats =>
      table.of(bucketId, hasOwnStats ? this.#tenant : '', direction);
    const owner = direction === 'request' ? this.#requestOwner() : this.#responseOwner();
    return new SharedBody(
      { share, tenant: this.#tenant, weight, statsOf, stats, loop, bufferLimitBytes },
      owner,
    );
  }

  #requestOwner(): SharedBodyOwner {
    const callbacks = this.#callbacks;
    return {
      onBytes: (data, endStream) => callbacks.injectRequestData(data, endStream),
      onTrailers: (trailers) => callbacks.injectRequestTrailers(trailers),
      onBacklog: (isFull) => callbacks.pauseRequest(isFull),
      lastTrailers: () => undefined,
      onException: () => callbacks.onException(),
    };
  }

  #responseOwner(): SharedBodyOwner {
    const callbacks = this.#callbacks;
    return {
      onBytes: (data, endStream) => callbacks.injectResponseData(data, endStream),
      onTrailers: (trailers) => {
        this.#tellDelays(trailers);
        callbacks.injectResponseTrailers(trailers);
      },
      onBacklog: (isFull) => callbacks.pauseResponse(isFull),
      lastTrailers: () => (this.#hasDelays() ? new HeaderMap() : undefined),
      onException: () => callbacks.onException(),
    };
  }

  #hasDelays(): boolean {
    if (this.#share.options.trailerPrefix === undefined) return false;
    return (this.#request?.waitedMs ?? 0) > 0 || (this.#response?.waitedMs ?? 0) > 0;
  }

  #tellDelays(trailers: HeaderMap): void {
    if (!this.#hasDelays()) return;
    const prefix = this.#share.options.trailerPrefix ?? '';
    for (const [direction, body] of [
      ['request', this.#request],
      ['response', this.#response],
    ] as const) {
      if (body === undefined || body.waitedMs === 0) continue;
      trailers.set(`${prefix}bandwidth-${direction}-duration-ms`, String(body.tookMs));
      trailers.set(`${prefix}bandwidth-${direction}-delay-ms`, String(body.waitedMs));
    }
  }
}

/** Envoy gives these formats no headers: only matchers see them. */
function nameWithoutHeaders(format: Formatter, info: StreamInfo): string {
  const { requestHeaders } = info;
  info.requestHeaders = undefined;
  try {
    return format(info);
  } finally {
    info.requestHeaders = requestHeaders;
  }
}
