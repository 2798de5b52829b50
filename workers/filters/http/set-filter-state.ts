/**
 * Keeps values of a request under keys, for the routes, filters and access logs behind it: the
 * chain's values first, then those of the route's levels. Source:
 * envoy.filters.http.set_filter_state.
 */
import type { SharedWith } from '../../../shared/resources/filters/common/filter-state-value.ts';
import type {
  SetFilterStateOptions,
  SetFilterStateFilterSettings,
} from '../../../shared/resources/filters/http/set-filter-state.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../../stream/filter.ts';
import { compileLineFormat, type Formatter } from '../../substitution/compile-format.ts';
import { CompiledSettings } from '../filter-context.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';
import { FilterState } from '../../net/filter-state.ts';

interface CompiledState {
  readonly values: readonly {
    readonly key: string;
    readonly formatter: Formatter;
    readonly skipsEmpty: boolean;
    readonly isHashable: boolean;
    readonly shared: SharedWith | undefined;
  }[];
  readonly clearsRoute: boolean;
}

export function makeSetFilterStateFilter({
  name,
  options: own,
}: SetFilterStateFilterSettings): FilterFactory {
  const compiled = new CompiledSettings((options: SetFilterStateOptions): CompiledState => ({
    // What is read-only can be replaced all the same while a request's headers come, as in Envoy.
    values: options.onRequestHeaders.map(({ key, format, skipsEmpty, isHashable, shared }) => ({
      key,
      formatter: compileLineFormat(format),
      skipsEmpty,
      isHashable,
      shared,
    })),
    clearsRoute: options.clearsRoute,
  }));
  const ofChain = compiled.of(own);
  return {
    name,
    create: (callbacks) => {
      const ofRoute = callbacks.routeConfigs(name) as readonly SetFilterStateOptions[];
      const levels = ofRoute.map((settings) => compiled.of(settings)).reverse();
      return new SetFilterStateFilter([ofChain, ...levels], callbacks);
    },
  };
}

class SetFilterStateFilter extends PassThroughFilter {
  readonly #levels: readonly CompiledState[];
  readonly #callbacks: FilterCallbacks;

  constructor(levels: readonly CompiledState[], callbacks: FilterCallbacks) {
    super();
    this.#levels = levels;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(): HeadersStatus {
    const { info } = this.#callbacks;
    for (const { values } of this.#levels) {
      for (const { key, formatter, skipsEmpty, isHashable, shared } of values) {
        const value = formatter(info);
        if (skipsEmpty && value === '') continue;
        const state = (info.filterState ??= new FilterState());
        state.keep(key, value, isHashable);
        if (shared !== undefined) state.share(key, shared);
      }
    }
    if (this.#levels.some(({ clearsRoute }) => clearsRoute)) this.#callbacks.clearRoute();
    return 'continue';
  }
}
