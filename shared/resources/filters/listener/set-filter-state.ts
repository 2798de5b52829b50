/** Settings of the listener filter set_filter_state: facts that are kept as a connection comes. */
import type { FilterStateValue } from '../common/filter-state-value.ts';
import { declareKind } from '../declare-filter.ts';
import type { ListenerFilterResource } from '../listener-filter.ts';

export type ListenerFilterStateSettings = ListenerFilterResource<'listener_set_filter_state'> & {
  readonly onAccept: readonly FilterStateValue[];
};

export const LISTENER_FILTER_STATE_DECLARATION = declareKind<ListenerFilterStateSettings>();
