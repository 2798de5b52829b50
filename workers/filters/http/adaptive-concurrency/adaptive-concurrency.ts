/**
 * Refuses requests beyond what a cluster answers without delay. The limit is one of all workers.
 * Source: envoy.filters.http.adaptive_concurrency.
 */
import type {
  AdaptiveConcurrencyFilterSettings,
  AdaptiveConcurrencyOptions,
} from '../../../../shared/resources/filters/http/limits/adaptive-concurrency.ts';
import { readBoolean } from '../../../../shared/runtime/read-runtime.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  TrailersStatus,
} from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import type { FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';
import { GradientController } from './gradient-controller.ts';

interface ConcurrencyParts {
  readonly own: AdaptiveConcurrencyOptions;
  readonly context: FilterContext;
  readonly controller: GradientController;
}

export function makeAdaptiveConcurrencyFilter(
  { name, options: own }: AdaptiveConcurrencyFilterSettings,
  context: FilterContext,
): FilterFactory {
  const parts = { own, context, controller: new GradientController(own, context) };
  return { name, create: (callbacks) => new AdaptiveConcurrencyFilter(parts, callbacks) };
}

class AdaptiveConcurrencyFilter extends PassThroughFilter {
  readonly #parts: ConcurrencyParts;
  readonly #callbacks: FilterCallbacks;
  #isUnderWay = false;
  #sentMs = 0;

  constructor(parts: ConcurrencyParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(): HeadersStatus {
    const { own, context, controller } = this.#parts;
    const { runtimeKey, byDefault } = own.enabled;
    const isOn = readBoolean(context.runtime.snapshot, runtimeKey, byDefault);
    if (!isOn || this.#callbacks.info.isHealthCheck) return 'continue';
    if (controller.admits()) {
      this.#isUnderWay = true;
      this.#sentMs = context.loop.clock.ms;
      return 'continue';
    }
    this.#callbacks.sendLocalReply({
      status: own.limitedStatus,
      body: 'reached concurrency limit',
      details: 'reached_concurrency_limit',
    });
    return 'stop';
  }

  override encodeHeaders(_headers: HeaderMap, endStream: boolean): HeadersStatus {
    if (endStream) this.#complete();
    return 'continue';
  }

  override encodeData(_data: Buffer, endStream: boolean): DataStatus {
    if (endStream) this.#complete();
    return 'continue';
  }

  override encodeTrailers(): TrailersStatus {
    this.#complete();
    return 'continue';
  }

  override onDestroy(): void {
    if (!this.#isUnderWay) return;
    this.#isUnderWay = false;
    this.#parts.controller.cancel();
  }

  #complete(): void {
    if (!this.#isUnderWay) return;
    this.#isUnderWay = false;
    this.#parts.controller.complete(this.#sentMs);
  }
}
