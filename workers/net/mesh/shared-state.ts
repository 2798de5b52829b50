/** What filters keep for the listener inside that a connection goes to. */
import type { SharedWith } from '../../../shared/resources/filters/common/filter-state-value.ts';
import type { FilterState } from '../filter-state.ts';

export interface SharedValue {
  readonly key: string;
  readonly value: string;
  readonly isHashable: boolean;
  readonly shared: SharedWith;
}

/** Of a stream and its connection; undefined: nothing is handed on. */
export function sharedState(
  ...states: readonly (FilterState | undefined)[]
): readonly SharedValue[] | undefined {
  const values = states.flatMap((state) => state?.sharedValues() ?? []);
  return values.length === 0 ? undefined : values;
}

/** What was handed on once goes no further. */
export function keepShared(state: FilterState, values: readonly SharedValue[]): void {
  for (const { key, value, isHashable, shared } of values) {
    if (state.has(key)) continue;
    state.keep(key, value, isHashable);
    if (shared === 'TRANSITIVE') state.share(key, shared);
  }
}
