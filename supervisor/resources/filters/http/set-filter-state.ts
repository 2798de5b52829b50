/** Resolves envoy.filters.http.set_filter_state, of a chain and of routes. */
import type { Config } from '../../../../shared/api/generated/envoy/extensions/filters/http/set_filter_state/v3/set_filter_state.ts';
import type {
  SetFilterStateFilterSettings,
  SetFilterStateOptions,
} from '../../../../shared/resources/filters/http/set-filter-state.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import type { Scope } from '../../scope.ts';
import { resolveFilterStateValues } from '../common/filter-state-values.ts';
import { httpFilter, perRoute } from '../http-filter-row.ts';

const FIELDS = knownFields<Config>(['on_request_headers', 'clear_route_cache']);

const SET_FILTER_STATE_TYPE = 'envoy.extensions.filters.http.set_filter_state.v3.Config';

export const SET_FILTER_STATE_FILTER = httpFilter(
  'envoy.filters.http.set_filter_state',
  SET_FILTER_STATE_TYPE,
  (message: Config, scope, name): SetFilterStateFilterSettings => ({
    kind: 'set_filter_state',
    name,
    options: resolveSetFilterState(message, scope),
  }),
  perRoute(SET_FILTER_STATE_TYPE, resolveSetFilterState),
);

function resolveSetFilterState(message: Config, scope: Scope): SetFilterStateOptions {
  refuseOtherFields(message, FIELDS, scope);
  const place = scope.at('on_request_headers');
  return {
    onRequestHeaders: resolveFilterStateValues(message.on_request_headers, place),
    clearsRoute: message.clear_route_cache ?? false,
  };
}
