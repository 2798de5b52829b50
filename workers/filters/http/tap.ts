/**
 * Lets everything pass and records it where a tap is in force. Source: envoy.filters.http.tap.
 */
import { randomBytes } from 'node:crypto';
import { TAP } from '../../../shared/resources/filters/http/tap.ts';
import type { DataStatus, FilterFactory, HeadersStatus, HttpFilter } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import { isEnabled } from '../../loop/runtime.ts';
import { type ActiveTap, RequestTap } from '../../tap/request-tap.ts';
import type { FilterContext } from '../filter-context.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';
import type { TapFilterSettings } from '../../../shared/resources/filters/http/tap.ts';

export function makeTapFilter(
  { name, options }: TapFilterSettings,
  context: FilterContext,
): FilterFactory {
  const base = context.stats.defineBlock(TAP, `${context.statScope}tap.`);
  context.onBlock(base);
  const { source } = options;
  const configured = source.kind === 'static' ? context.taps.compile(source.settings) : undefined;
  const inForce = (): ActiveTap | undefined =>
    source.kind === 'admin' ? context.taps.adminTap(source.configId) : configured;
  const create = (info: StreamInfo): HttpFilter => {
    const tap = inForce();
    if (tap === undefined) return new PassThroughFilter();
    const { enabled } = tap.settings;
    if (enabled !== undefined && !isEnabled(enabled, context.runtime, context.runtime.random())) {
      context.stats.increment(base + TAP.index.rq_sampled_out);
      return new PassThroughFilter();
    }
    const recorded = new RequestTap({
      ...options,
      tap,
      info,
      traceId: traceIdOf(info),
      nowMs: () => context.loop.clock.wallMs,
    });
    return new TapFilter(recorded, () => context.stats.increment(base + TAP.index.rq_tapped));
  };
  return { name, create: ({ info }) => create(info) };
}

/** All taps of a request call it the same. */
const traceIds = new WeakMap<StreamInfo, bigint>();

export function traceIdOf(info: StreamInfo): bigint {
  const known = traceIds.get(info);
  if (known !== undefined) return known;
  const id = randomBytes(8).readBigUInt64LE();
  traceIds.set(info, id);
  return id;
}

export class TapFilter extends PassThroughFilter {
  readonly #tap: RequestTap;
  readonly #countTapped: () => void;

  constructor(tap: RequestTap, countTapped: () => void) {
    super();
    this.#tap = tap;
    this.#countTapped = countTapped;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    this.#tap.onHeaders('request', headers);
    return 'continue';
  }

  override decodeData(data: Buffer): DataStatus {
    this.#tap.onBody('request', data);
    return 'continue';
  }

  override decodeTrailers(trailers: HeaderMap): HeadersStatus {
    this.#tap.onTrailers('request', trailers);
    return 'continue';
  }

  override encodeHeaders(headers: HeaderMap): HeadersStatus {
    this.#tap.onHeaders('response', headers);
    return 'continue';
  }

  override encodeData(data: Buffer): DataStatus {
    this.#tap.onBody('response', data);
    return 'continue';
  }

  override encodeTrailers(trailers: HeaderMap): HeadersStatus {
    this.#tap.onTrailers('response', trailers);
    return 'continue';
  }

  override onDestroy(): void {
    if (this.#tap.end()) this.#countTapped();
  }
}
