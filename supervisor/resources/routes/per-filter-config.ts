/**
 * Resolves `typed_per_filter_config` of routes, virtual hosts and route configurations: settings of
 * an HTTP filter that hold there alone.
 */
import type { Dictionary } from '../../../shared/text/dictionary.ts';
import { typeNameOf } from '../../config/type-name.ts';
import type { FilterConfig } from '../../../shared/api/generated/envoy/config/route/v3/route_components.ts';
import type { Any } from '../../../shared/api/well-known.ts';
import type { PerFilterConfig } from '../../../shared/resources/routes/route.ts';
import type { FilterSwitch } from '../../../shared/resources/filters/declare-filter.ts';

import { FILTERS, PER_ROUTE_SETTINGS } from '../filters/http-filters.ts';
import { innerTypeUrl, unpackOpaque } from '../opaque-config.ts';
import type { Scope } from '../scope.ts';

/** Configurations of filters that have no settings per route. */
const WITHOUT_PER_ROUTE: readonly string[] = ['envoy.extensions.filters.http.router.v3.Router'];

const FILTER_CONFIG = 'envoy.config.route.v3.FilterConfig';

export function resolvePerFilterConfig(
  message: Dictionary<Any> | undefined,
  scope: Scope,
): PerFilterConfig {
  if (message === undefined) return new Map();
  const place = scope.at('typed_per_filter_config');
  const settings = Object.entries(message).map(([name, config]): [string, unknown] => [
    name,
    resolveOne(name, config, place.at(name)),
  ]);
  return new Map(settings.filter(([, each]) => each !== undefined));
}

/** Undefined after a reported problem, and for what is optional and not known. */
function resolveOne(name: string, config: Any, scope: Scope): unknown {
  const type = typeNameOf(config['@type']);
  if (type === FILTER_CONFIG) return resolveWrapped(name, config, scope);
  return resolveSettings(name, config, scope, false);
}

function resolveSettings(name: string, config: Any, scope: Scope, isOptional: boolean): unknown {
  const type = typeNameOf(innerTypeUrl(config));
  const settings = PER_ROUTE_SETTINGS.get(type);
  if (settings !== undefined) {
    const message = unpackOpaque(config, scope);
    return message && settings.resolve(message, scope);
  }
  if (isOptional) {
    const text = `optional settings of HTTP filter '${name}' are left out: '${type}' is not supported`;
    scope.warning('unsupported', text);
  } else if (FILTERS.leavesOutType({ name, type }, scope)) {
    return undefined;
  } else if (WITHOUT_PER_ROUTE.includes(type)) {
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
  const { config, is_optional: isOptional } = message;
  if (message.disabled === true) return filterSwitch(true);
  if (config === undefined) {
    scope.error(
      'extension',
      `Empty route/virtual host per filter configuration for ${name} filter`,
    );
    return undefined;
  }
  // An Any that is there and empty turns on what is off by default, without settings.
  if (typeNameOf(config['@type']) === '') return filterSwitch(false);
  return resolveSettings(name, config, scope.at('config'), isOptional === true);
}

function filterSwitch(disabled: boolean): FilterSwitch {
  return { isFilterSwitch: true, disabled };
}
