/** Resolves envoy.filters.http.set_filter_state, of a chain and of routes. */
import type { Config } from '../../../shared/api/generated/envoy/extensions/filters/http/set_filter_state/v3/set_filter_state.ts';
import type { HttpFilter, SetFilterStateOptions } from '../../../shared/resources/http-filters.ts';
import { extension } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { resolveFilterStateValues } from './filter-state-values.ts';

const FIELDS = knownFields<Config>(['on_request_headers', 'clear_route_cache']);

export const SET_FILTER_STATE_TYPE = 'envoy.extensions.filters.http.set_filter_state.v3.Config';

export const SET_FILTER_STATE_FILTER = {
  ...extension(
    'envoy.filters.http.set_filter_state',
    SET_FILTER_STATE_TYPE,
    (message: Config, scope, name): HttpFilter => ({
      kind: 'set_filter_state',
      name,
      options: resolveSetFilterState(message, scope),
    }),
  ),
  isTerminal: false,
};

export function resolveSetFilterState(message: Config, scope: Scope): SetFilterStateOptions {
  refuseOtherFields(message, FIELDS, scope);
  const place = scope.at('on_request_headers');
  return {
    onRequestHeaders: resolveFilterStateValues(message.on_request_headers, place),
    clearsRoute: message.clear_route_cache ?? false,
  };
}
