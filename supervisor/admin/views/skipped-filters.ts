/**
 * Filters of the present listeners and clusters that `--unsupported-filters` left out, read from the
 * messages as they were given.
 */
import type { JsonObject, JsonValue } from '../../../shared/api/well-known.ts';
import { typeNameOf } from '../../config/type-name.ts';
import type { Steps } from '../../loop/loop-turns.ts';
import type { FilterSkips, NamedFilter } from '../../resolved/filter-skips.ts';
import type { ResourceStore } from '../../store/resource-store.ts';

/** Where filters stand in messages. */
const LISTS: ReadonlySet<string> = new Set([
  'filters',
  'http_filters',
  'listener_filters',
  'upstream_http_filters',
]);

const KINDS = ['listener', 'cluster'] as const;

export interface SkippedFilter extends NamedFilter {
  readonly kind: (typeof KINDS)[number];
  /** The name of the listener or cluster. */
  readonly resource: string;
}

/** `isKnown` says whether a type is served: one that is was not left out. */
export function* skippedFilters(
  store: ResourceStore,
  skips: FilterSkips | undefined,
  isKnown: (type: string) => boolean,
): Steps<readonly SkippedFilter[], ''> {
  const found: SkippedFilter[] = [];
  if (skips?.isOn !== true) return found;
  for (const kind of KINDS) {
    for (const { name: resource, active } of store.list(kind)) {
      for (const filter of active === undefined ? [] : filtersIn(active.message)) {
        if (!isKnown(filter.type) && skips.allows(filter))
          found.push({ kind, resource, ...filter });
      }
      yield '';
    }
  }
  return found;
}

function* filtersIn(message: JsonObject): Generator<NamedFilter> {
  for (const [key, value] of Object.entries(message)) {
    const members: readonly JsonValue[] = Array.isArray(value) ? value : [value];
    for (const member of members) {
      if (!isObject(member)) continue;
      if (LISTS.has(key)) yield* namesOf(member);
      yield* filtersIn(member);
    }
  }
}

/** Of one with settings from elsewhere each type that it may be of. */
function* namesOf(filter: JsonObject): Generator<NamedFilter> {
  const { name, typed_config: config, config_discovery: discovery } = filter;
  if (typeof name !== 'string') return;
  if (isObject(config)) yield { name, type: typeNameOf(typeUrlOf(config)) };
  const urls = isObject(discovery) ? discovery['type_urls'] : undefined;
  for (const url of Array.isArray(urls) ? urls : []) {
    if (typeof url === 'string') yield { name, type: typeNameOf(url) };
  }
}

/** A TypedStruct says by itself what it is. */
function typeUrlOf(config: JsonObject): string {
  const { type_url: inner, '@type': outer } = config;
  if (typeof inner === 'string') return inner;
  return typeof outer === 'string' ? outer : '';
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
