/** Settings of the network filter set_filter_state. */
import type { FilterStateValue } from '../common/filter-state-value.ts';
import { declareKind } from '../declare-filter.ts';

/** Keeps facts of the connection for the filters behind it, and for access logs. */
export interface SetFilterState {
  readonly kind: 'set_filter_state';
  readonly onNewConnection: readonly FilterStateValue[];
  readonly onTlsHandshake: readonly FilterStateValue[];
  readonly onFirstBytes: readonly FilterStateValue[];
}

export const SET_FILTER_STATE_DECLARATION = declareKind<SetFilterState>();
