/** Resolves envoy.config.route.v3.Route: a match and what is done with what it matches. */
import type { Route as RouteMessage } from '../../../shared/api/generated/envoy/config/route/v3/route_components.ts';
import type {
  RequestMirrorPolicy,
  Route,
  RouteAction,
} from '../../../shared/resources/routes/route.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveMetadata } from '../metadata.ts';
import type { Scope } from '../scope.ts';
import { resolveDecorator, resolveRouteTracing } from '../tracing/tracing.ts';
import { optional } from '../values.ts';
import { resolveClusterAction } from './cluster-action.ts';
import type { ClusterReferences } from './cluster-references.ts';
import { resolveDirectResponse } from './direct-response.ts';
import { resolveHeaderChanges } from './header-changes.ts';
import { checkTemplateVariables } from './path-templates.ts';
import { resolvePerFilterConfig } from './per-filter-config.ts';
import { resolveRedirect } from './redirect.ts';
import { resolveRouteMatch } from './route-match.ts';

const FIELDS = knownFields<RouteMessage>([
  'name',
  'match',
  'route',
  'redirect',
  'direct_response',
  'non_forwarding_action',
  'metadata',
  'typed_per_filter_config',
  'request_headers_to_add',
  'request_headers_to_remove',
  'response_headers_to_add',
  'response_headers_to_remove',
  'per_request_buffer_limit_bytes',
  'request_body_buffer_limit',
  'stat_prefix',
  'tracing',
  'decorator',
]);

/** What holds for a whole route configuration while its routes are resolved. */
export interface RouteScope {
  readonly references: ClusterReferences;
  readonly maxDirectResponseBodyBytes: number;
  /** For routes that have none of their own. */
  readonly mirrorPolicies: readonly RequestMirrorPolicy[];
}

/** Undefined after a reported problem. */
export function resolveRoute(
  message: RouteMessage,
  routes: RouteScope,
  scope: Scope,
): Route | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const match = resolveRouteMatch(message.match ?? {}, scope.at('match'));
  const action = resolveAction(message, routes, scope);
  const common = {
    name: message.name ?? '',
    ...resolveHeaderChanges(message, scope),
    typedPerFilterConfig: resolvePerFilterConfig(message.typed_per_filter_config, scope),
    ...optional('statPrefix', message.stat_prefix),
    ...optional('perRequestBufferLimitBytes', bufferLimit(message)),
    ...optional('metadata', resolveMetadata(message.metadata)),
    ...optional('tracing', resolveRouteTracing(message.tracing, scope.at('tracing'))),
    ...optional('decorator', resolveDecorator(message.decorator, scope.at('decorator'))),
  };
  if (match === undefined || action === undefined) return undefined;
  const route = { ...common, match, action };
  checkTemplateVariables(route, scope);
  return route;
}

function resolveAction(
  message: RouteMessage,
  routes: RouteScope,
  scope: Scope,
): RouteAction | undefined {
  if (message.route !== undefined) {
    return resolveClusterAction(message.route, routes, scope.at('route'));
  }
  if (message.redirect !== undefined)
    return resolveRedirect(message.redirect, scope.at('redirect'));
  if (message.direct_response !== undefined) {
    const place = scope.at('direct_response');
    return resolveDirectResponse(message.direct_response, routes.maxDirectResponseBodyBytes, place);
  }
  return message.non_forwarding_action === undefined ? undefined : { kind: 'none' };
}

/** The newer 64-bit field wins over the older one. */
export function bufferLimit(message: {
  readonly per_request_buffer_limit_bytes?: number;
  readonly request_body_buffer_limit?: string;
}): number | undefined {
  const { request_body_buffer_limit: limit } = message;
  return limit === undefined ? message.per_request_buffer_limit_bytes : Number(limit);
}
