/** Settings of envoy.filters.http.set_filter_state. */
import type { FilterResource } from '../declare-filter.ts';
import type { FilterStateValue } from '../common/filter-state-value.ts';
import { declareKind } from '../declare-filter.ts';

export interface SetFilterStateOptions {
  readonly onRequestHeaders: readonly FilterStateValue[];
  /** Then the route is chosen again. */
  readonly clearsRoute: boolean;
}

export type SetFilterStateFilterSettings = FilterResource<
  'set_filter_state',
  SetFilterStateOptions
>;

export const SET_FILTER_STATE_DECLARATION = declareKind<SetFilterStateFilterSettings>();
