/**
 * Resolves `typed_per_filter_config` of routes, virtual hosts and route configurations: settings of
 * an HTTP filter that hold there alone.
 */
import type { Dictionary } from '../../../shared/text/dictionary.ts';
import { typeNameOf } from '../../config/type-name.ts';
import type { FilterConfig } from '../../../shared/api/generated/envoy/config/route/v3/route_components.ts';
import type { Any } from '../../../shared/api/well-known.ts';
import type { PerFilterConfig } from '../../../shared/resources/routes/route.ts';
import type { DisabledFilter } from '../../../shared/resources/http-filters.ts';

import { BASIC_AUTH_PER_ROUTE_TYPE, resolveUsers } from '../filters/basic-auth-filter.ts';
import { BUFFER_PER_ROUTE_TYPE, resolveBufferPerRoute } from '../filters/buffer-filter.ts';
import {
  COMPRESSOR_PER_ROUTE_TYPE,
  resolveCompressorPerRoute,
} from '../filters/compressor-filter.ts';
import { CORS_POLICY_TYPE, resolveCorsPolicy } from '../filters/cors-filter.ts';
import { CSRF_TYPE, resolveCsrfPolicy } from '../filters/csrf-filter.ts';
import {
  DYNAMIC_FORWARD_PROXY_PER_ROUTE_TYPE,
  resolveDynamicForwardProxyPerRoute,
} from '../filters/dynamic-forward-proxy-filter.ts';
import { FAULT_TYPE, resolveFault } from '../filters/fault-filter.ts';
import {
  resolveSetFilterState,
  SET_FILTER_STATE_TYPE,
} from '../filters/set-filter-state-filter.ts';
import {
  HEADER_MUTATION_PER_ROUTE_TYPE,
  resolveMutations,
} from '../filters/header-mutation-filter.ts';
import {
  LOCAL_RATE_LIMIT_TYPE,
  resolveLocalRateLimit,
} from '../filters/local-rate-limit-filter.ts';
import { RBAC_PER_ROUTE_TYPE, resolveRbacPerRoute } from '../filters/rbac-filter.ts';
import {
  resolveStatefulSessionPerRoute,
  STATEFUL_SESSION_PER_ROUTE_TYPE,
} from '../filters/stateful-session-filter.ts';
import { ON_DEMAND_PER_ROUTE_TYPE, resolveOnDemandPerRoute } from '../filters/on-demand-filter.ts';
import type { Scope } from '../scope.ts';

/** The settings' own message by type; each gives what its filter reads in the worker. */
const PER_ROUTE_TYPES: ReadonlyMap<string, PerRouteResolver> = new Map([
  perRoute(COMPRESSOR_PER_ROUTE_TYPE, resolveCompressorPerRoute),
  perRoute(CSRF_TYPE, resolveCsrfPolicy),
  perRoute(BASIC_AUTH_PER_ROUTE_TYPE, resolveUsers),
  perRoute(CORS_POLICY_TYPE, resolveCorsPolicy),
  perRoute(FAULT_TYPE, resolveFault),
  perRoute(BUFFER_PER_ROUTE_TYPE, resolveBufferPerRoute),
  perRoute(LOCAL_RATE_LIMIT_TYPE, resolveLocalRateLimit),
  perRoute(RBAC_PER_ROUTE_TYPE, resolveRbacPerRoute),
  perRoute(STATEFUL_SESSION_PER_ROUTE_TYPE, resolveStatefulSessionPerRoute),
  perRoute(ON_DEMAND_PER_ROUTE_TYPE, resolveOnDemandPerRoute),
  perRoute(HEADER_MUTATION_PER_ROUTE_TYPE, resolveMutations),
  perRoute(SET_FILTER_STATE_TYPE, resolveSetFilterState),
  perRoute(DYNAMIC_FORWARD_PROXY_PER_ROUTE_TYPE, resolveDynamicForwardProxyPerRoute),
]);

type PerRouteResolver = (message: Any, scope: Scope) => unknown;

/** The type URL has decided that the message is of the resolver's own type. */
function perRoute<Message>(
  type: string,
  resolve: (message: Message, scope: Scope) => unknown,
): readonly [string, PerRouteResolver] {
  return [type, (message, scope) => resolve(message as Message, scope)];
}

/** Configurations of filters that have no settings per route. */
const WITHOUT_PER_ROUTE: readonly string[] = ['envoy.extensions.filters.http.router.v3.Router'];

const FILTER_CONFIG = 'envoy.config.route.v3.FilterConfig';

export function resolvePerFilterConfig(
  message: Dictionary<Any> | undefined,
  scope: Scope,
): PerFilterConfig {
  if (message === undefined) return new Map();
  const place = scope.at('typed_per_filter_config');
  return new Map(
    Object.entries(message).map(([name, config]) => [
      name,
      resolveOne(name, config, place.at(name)),
    ]),
  );
}

function resolveOne(name: string, config: Any, scope: Scope): unknown {
  const type = typeNameOf(config['@type']);
  if (type === FILTER_CONFIG) return resolveWrapped(name, config, scope);
  const resolve = PER_ROUTE_TYPES.get(type);
  if (resolve !== undefined) return resolve(config, scope);
  if (WITHOUT_PER_ROUTE.includes(type)) {
    scope.error(
      'extension',
      `The filter ${name} doesn't support virtual host or route specific configurations`,
    );
  } else {
    scope.error(
      'unsupported',
      `per-route configuration of HTTP filter '${name}' of type '${type}' is not supported`,
    );
  }
  return undefined;
}

function resolveWrapped(name: string, message: Any & FilterConfig, scope: Scope): unknown {
  if (message.config === undefined && message.disabled !== true) {
    scope.error(
      'extension',
      `Empty route/virtual host per filter configuration for ${name} filter`,
    );
    return undefined;
  }
  if (message.disabled === true || message.config === undefined) {
    const disabled: DisabledFilter = { disabled: true };
    return disabled;
  }
  return resolveOne(name, message.config, scope.at('config'));
}
