/**
 * A filter whose settings come from elsewhere: each request passes what they are when it begins. As
 * long as there are none the default serves, or the request is refused. Source:
 * envoy.config.core.v3.ExtensionConfigSource.
 */
import type { DiscoveredFilterSettings } from '../../../shared/resources/filters/http/discovered.ts';
import type { HttpFilter } from '../../../shared/resources/filters/http-filters.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../../stream/filter.ts';
import { ResponseFlag } from '../../stream/response-flags.ts';
import type { FilterContext } from '../filter-context.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';

/** `make` makes the factory of settings as those of any filter. */
export function makeDiscoveredFilter(
  { name, options: { key, fallback } }: DiscoveredFilterSettings,
  context: FilterContext,
  make: (filter: HttpFilter, context: FilterContext) => FilterFactory,
): FilterFactory {
  let used: HttpFilter | undefined;
  let factory: FilterFactory | undefined;
  let alone: readonly FilterFactory[] = [];
  const missing: FilterFactory = { name, create: (callbacks) => new MissingFilter(callbacks) };
  const presentFactory = (): FilterFactory => {
    const present = context.extensions.get(key) ?? fallback;
    if (present === undefined) return missing;
    if (factory === undefined || used !== present) {
      used = present;
      // A filter inside of another has that one's name.
      factory = make({ ...present, name }, context);
      alone = [factory];
    }
    return factory;
  };
  return {
    name,
    create: (callbacks) => presentFactory().create(callbacks),
    filtersFor(route) {
      const present = presentFactory();
      if (present.filtersFor !== undefined) return present.filtersFor(route);
      return present === factory ? alone : [present];
    },
  };
}

class MissingFilter extends PassThroughFilter {
  readonly #callbacks: FilterCallbacks;

  constructor(callbacks: FilterCallbacks) {
    super();
    this.#callbacks = callbacks;
  }

  override decodeHeaders(): HeadersStatus {
    this.#callbacks.info.responseFlags |= ResponseFlag.noFilterConfigFound;
    this.#callbacks.sendLocalReply({ status: 500, body: '', details: '' });
    return 'stop';
  }
}
