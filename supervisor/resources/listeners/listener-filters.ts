/** Resolves the listener filters of a listener, with the connections that each does not look at. */
import type {
  ListenerFilter as FilterMessage,
  ListenerFilterChainMatchPredicate as Predicate,
} from '../../../shared/api/generated/envoy/config/listener/v3/listener_components.ts';
import type { PortPredicate } from '../../../shared/resources/filters/listener-filter.ts';
import type { ListenerFilter } from '../../../shared/resources/filters/listener-filters.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { LISTENER_FILTERS } from '../filters/listener-filters.ts';
import type { Scope } from '../scope.ts';

const FIELDS = knownFields<FilterMessage>(['name', 'typed_config', 'filter_disabled']);

export function resolveListenerFilters(
  messages: readonly FilterMessage[],
  scope: Scope,
): readonly ListenerFilter[] {
  const filters = messages.map((message, index) => {
    const place = scope.at(index);
    refuseOtherFields(message, FIELDS, place);
    if (LISTENER_FILTERS.leavesOut(message, false, place)) return undefined;
    const filter = LISTENER_FILTERS.resolve(message, place);
    if (message.filter_disabled === undefined || filter === undefined) return filter;
    const condition = place.at('filter_disabled');
    if (filter.kind === 'original_dst') condition.unsupported(`a condition of '${filter.kind}' is`);
    return { ...filter, disabled: resolvePorts(message.filter_disabled) };
  });
  return filters.filter((filter) => filter !== undefined);
}

function resolvePorts(message: Predicate): PortPredicate {
  const { or_match: or, and_match: and, not_match: not, destination_port_range: ports } = message;
  const all = ({ rules = [] }: { readonly rules?: readonly Predicate[] }) =>
    rules.map((rule) => resolvePorts(rule));
  if (or !== undefined) return { kind: 'or', rules: all(or) };
  if (and !== undefined) return { kind: 'and', rules: all(and) };
  if (not !== undefined) return { kind: 'not', rule: resolvePorts(not) };
  if (ports !== undefined) return { kind: 'range', start: ports.start ?? 0, end: ports.end ?? 0 };
  return { kind: 'any' };
}
