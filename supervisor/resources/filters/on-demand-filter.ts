/**
 * Resolves envoy.extensions.filters.http.on_demand.v3.OnDemand; clusters on demand are refused by
 * name.
 */
import type {
  OnDemand,
  PerRouteConfig,
} from '../../../shared/api/generated/envoy/extensions/filters/http/on_demand/v3/on_demand.ts';
import type { HttpFilter } from '../../../shared/resources/http-filters.ts';
import { extension } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';

export const ON_DEMAND_PER_ROUTE_TYPE = 'envoy.extensions.filters.http.on_demand.v3.PerRouteConfig';

const FIELDS = knownFields<OnDemand>([]);

export const ON_DEMAND_FILTER = {
  ...extension(
    'envoy.filters.http.on_demand',
    'envoy.extensions.filters.http.on_demand.v3.OnDemand',
    (message: OnDemand, scope, name): HttpFilter => {
      refuseOtherFields(message, FIELDS, scope);
      return { kind: 'on_demand', name };
    },
  ),
  isTerminal: false,
};

/** Says only whether clusters are fetched on demand, which none is. */
export function resolveOnDemandPerRoute(message: PerRouteConfig, scope: Scope): object {
  refuseOtherFields(message, knownFields<PerRouteConfig>([]), scope);
  return {};
}
