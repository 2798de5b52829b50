/** Resolves envoy.type.matcher.v3.FilterStateMatcher and AddressMatcher. */
import type { FilterStateMatcher as FilterStateMessage } from '../../../shared/api/generated/envoy/type/matcher/v3/filter_state.ts';
import type {
  AddressRange,
  FilterStateMatcher,
} from '../../../shared/resources/routes/matchers.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveCidr } from '../http/cidr.ts';
import type { Scope } from '../scope.ts';
import { resolveStringMatcher } from './string-matcher.ts';

const FIELDS = knownFields<FilterStateMessage>(['key', 'string_match', 'address_match']);

/** Undefined after a reported problem. */
export function resolveFilterStateMatcher(
  message: FilterStateMessage,
  scope: Scope,
): FilterStateMatcher | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const { key = '', address_match: addresses } = message;
  if (addresses !== undefined) {
    const ranges = resolveRanges(addresses.ranges, scope.at('address_match', 'ranges'));
    return { key, match: { kind: 'address', ranges, invert: addresses.invert_match ?? false } };
  }
  const matcher = resolveStringMatcher(message.string_match ?? {}, scope.at('string_match'));
  return matcher && { key, match: { kind: 'string', matcher } };
}

interface RangeMessage {
  readonly address_prefix?: string;
  readonly prefix_len?: number;
}

export function resolveRanges(
  messages: readonly RangeMessage[] | undefined,
  scope: Scope,
): readonly AddressRange[] {
  const ranges = (messages ?? []).map((range, index) => resolveCidr(range, scope.at(index)));
  return ranges.filter((range) => range !== undefined);
}
