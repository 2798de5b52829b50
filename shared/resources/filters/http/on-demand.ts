/** Settings of envoy.filters.http.on_demand. */
import type { FilterResource, NoOptions } from '../declare-filter.ts';
import { declareKind } from '../declare-filter.ts';

export type OnDemandFilterSettings = FilterResource<'on_demand', NoOptions>;

export const ON_DEMAND_DECLARATION = declareKind<OnDemandFilterSettings>();
