/** Settings of a filter whose own settings come from elsewhere (`config_discovery`). */
import type { FilterResource } from '../declare-filter.ts';
import type { HttpFilter } from '../http-filters.ts';
import { declareKind } from '../declare-filter.ts';

/** The settings travel apart, by `key`; until they are there `fallback` serves. */
interface DiscoveredOptions {
  readonly key: string;
  readonly fallback?: HttpFilter;
}

export type DiscoveredFilterSettings = FilterResource<'discovered', DiscoveredOptions>;

export const DISCOVERED_DECLARATION = declareKind<DiscoveredFilterSettings>();
