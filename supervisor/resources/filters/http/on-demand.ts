/**
 * Resolves envoy.extensions.filters.http.on_demand.v3.OnDemand; clusters on demand are refused by
 * name.
 */
import type {
  OnDemand,
  PerRouteConfig,
} from '../../../../shared/api/generated/envoy/extensions/filters/http/on_demand/v3/on_demand.ts';
import type { OnDemandFilterSettings } from '../../../../shared/resources/filters/http/on-demand.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import type { Scope } from '../../scope.ts';
import { httpFilter, perRoute } from '../http-filter-row.ts';

const ON_DEMAND_PER_ROUTE_TYPE = 'envoy.extensions.filters.http.on_demand.v3.PerRouteConfig';

const FIELDS = knownFields<OnDemand>([]);

export const ON_DEMAND_FILTER = httpFilter(
  'envoy.filters.http.on_demand',
  'envoy.extensions.filters.http.on_demand.v3.OnDemand',
  (message: OnDemand, scope, name): OnDemandFilterSettings => {
    refuseOtherFields(message, FIELDS, scope);
    return { kind: 'on_demand', name, options: {} };
  },
  perRoute(ON_DEMAND_PER_ROUTE_TYPE, resolveOnDemandPerRoute),
);

/** Says only whether clusters are fetched on demand, which none is. */
function resolveOnDemandPerRoute(message: PerRouteConfig, scope: Scope): object {
  refuseOtherFields(message, knownFields<PerRouteConfig>([]), scope);
  return {};
}
