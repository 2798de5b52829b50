/**
 * Sends the parts of requests and responses to a processor, and makes of them what it answers.
 * Source: envoy.filters.http.ext_proc.
 */
import { dottedPrefix } from '../../../../shared/stats/stat-scope.ts';
import {
  EXT_PROC,
  type ExtProcFilterSettings,
  type ExtProcPerRoute,
} from '../../../../shared/resources/filters/http/ext-proc/ext-proc.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  HttpFilter,
  TrailersStatus,
} from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import type { FilterContext } from '../../filter-context.ts';
import { Exchange } from './exchange.ts';
import { HeaderMutations } from './header-mutations.ts';
import { LingeringCalls } from './lingering-calls.ts';
import type { ExchangeParts } from './processor-line.ts';
import { ProcessorServices } from './processor-services.ts';
import { ownSettings, type RequestSettings, settingsOf } from './settings.ts';
import { AttributeReaders, compileForwarding } from './sent-parts.ts';

export function makeExtProcFilter(
  { name, options }: ExtProcFilterSettings,
  context: FilterContext,
): FilterFactory {
  const prefix = `${context.statScope}ext_proc.${dottedPrefix(options.statPrefix)}`;
  const base = context.stats.defineBlock(EXT_PROC, prefix);
  context.onBlock(base);
  const count: ExchangeParts['count'] = (stat) => {
    context.stats.increment(base + EXT_PROC.index[stat]);
  };
  const services = new ProcessorServices(context);
  const { loop } = context;
  const lingering = new LingeringCalls(loop.timers, options.deferredCloseMs, () => {
    if (options.service.kind === 'grpc') count('streams_closed');
  });
  context.onRelease(() => {
    lingering.release();
    services.release();
  });
  const parts: ExchangeParts = {
    options,
    context,
    count,
    services,
    lingering,
    mutations: new HeaderMutations(options, () => count('rejected_header_mutations')),
    sent: compileForwarding(options),
    attributes: new AttributeReaders(),
  };
  const own = ownSettings(options);
  return { name, create: (callbacks) => new ExtProcFilter(name, parts, own, callbacks) };
}

class ExtProcFilter implements HttpFilter {
  readonly #name: string;
  readonly #parts: ExchangeParts;
  readonly #own: RequestSettings;
  readonly #callbacks: FilterCallbacks;
  #exchange: Exchange | undefined = undefined;
  #isDisabled = false;

  constructor(
    name: string,
    parts: ExchangeParts,
    own: RequestSettings,
    callbacks: FilterCallbacks,
  ) {
    this.#name = name;
    this.#parts = parts;
    this.#own = own;
    this.#callbacks = callbacks;
  }

  decodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    return this.#begin()?.request.onHeaders(headers, endStream) ?? 'continue';
  }

  decodeData(data: Buffer, endStream: boolean): DataStatus {
    return this.#exchange?.request.onData(data, endStream) ?? 'continue';
  }

  decodeTrailers(trailers: HeaderMap): TrailersStatus {
    return this.#exchange?.request.onTrailers(trailers) ?? 'continue';
  }

  encodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    const exchange = this.#begin();
    if (exchange === undefined) return 'continue';
    // An answer that was made here takes the place of the one that was being processed.
    if (exchange.response.hasBegun) exchange.stop();
    return exchange.response.onHeaders(headers, endStream);
  }

  encodeData(data: Buffer, endStream: boolean): DataStatus {
    return this.#exchange?.response.onData(data, endStream) ?? 'continue';
  }

  encodeTrailers(trailers: HeaderMap): TrailersStatus {
    return this.#exchange?.response.onTrailers(trailers) ?? 'continue';
  }

  onDestroy(): void {
    this.#exchange?.onDestroy();
  }

  /** Undefined where the route switches the filter off. */
  #begin(): Exchange | undefined {
    if (this.#exchange !== undefined || this.#isDisabled) return this.#exchange;
    const levels = this.#callbacks.routeConfigs(this.#name) as readonly ExtProcPerRoute[];
    const settings = settingsOf(this.#own, levels);
    if (settings === undefined) this.#isDisabled = true;
    else this.#exchange = new Exchange(this.#parts, settings, this.#callbacks);
    return this.#exchange;
  }
}
