/** Resolves a virtual host's tree of routes: what may be looked at and what its leaves are. */
import { typeNameOf } from '../../config/type-name.ts';
import type { Matcher } from '../../../shared/api/generated/xds/type/matcher/v3/matcher.ts';
import type {
  Route as RouteMessage,
  RouteList,
} from '../../../shared/api/generated/envoy/config/route/v3/route_components.ts';
import type { MatcherTree } from '../../../shared/resources/routes/matcher-tree.ts';
import type { Route } from '../../../shared/resources/routes/route.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { resolveMatcherTree } from '../matchers/matcher-tree.ts';
import type { Scope } from '../scope.ts';
import { resolveRoute, type RouteScope } from './route.ts';

/** Everything else may change after the route was chosen. */
const INPUTS: ReadonlySet<string> = new Set([
  'envoy.type.matcher.v3.HttpRequestHeaderMatchInput',
  'envoy.extensions.matching.common_inputs.network.v3.FilterStateInput',
  'envoy.extensions.matching.common_inputs.environment_variable.v3.Config',
]);

const VIOLATION = 'requirement violation while creating route match tree: INVALID_ARGUMENT';

type RouteMessages = readonly RouteMessage[];

const ACTIONS = new ExtensionRegistry<RouteMessages>('envoy.matching.action', 'route action', [
  extension('route', 'envoy.config.route.v3.Route', (message: RouteMessage) => [message]),
  extension(
    'route_list',
    'envoy.config.route.v3.RouteList',
    (message: RouteList) => message.routes ?? [],
  ),
]);

export function resolveRouteMatcher(
  message: Matcher,
  routes: RouteScope,
  scope: Scope,
): MatcherTree<readonly Route[]> | undefined {
  return resolveMatcherTree(
    message,
    {
      resolveAction(action, place) {
        const messages = ACTIONS.resolve(action, place);
        return messages
          ?.map((route) => resolveRoute(route, routes, place.at('typed_config')))
          .filter((route) => route !== undefined);
      },
      keepMatchingProblem: `${VIOLATION}: keep_matching is not supported in this context`,
      checkInput(typeUrl, place) {
        if (INPUTS.has(typeNameOf(typeUrl))) return;
        place.error(
          'conflict',
          `${VIOLATION}: Route table can only match on request headers, saw ${typeUrl}`,
        );
      },
    },
    scope,
  );
}
