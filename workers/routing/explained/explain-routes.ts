/**
 * Why a request takes the route that it takes: each route that is looked at, in order, with the
 * first condition that does not hold. Whether a route fits is asked of the route itself, as the
 * data plane asks it; only the words are made here.
 */
import type {
  ExplainedRouting,
  FailedCondition,
  TriedRoute,
} from '../../../shared/explain/explanation.ts';
import type { RouteMatch } from '../../../shared/resources/routes/route.ts';
import type { Runtime } from '../../loop/runtime.ts';
import type { Steps } from '../../loop/sliced-work.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import type { CompiledRoute } from '../compiled-route.ts';
import { failed, pathText, quoted, routeText } from './describe-match.ts';
import { conditionsOf } from '../route-conditions.ts';

/** Routes that are listed, besides the one that fits. */
const LISTED_MAX = 200;

/** What was tried, and the route that fits. */
export interface TriedRoutes extends Pick<ExplainedRouting, 'tried' | 'omitted'> {
  readonly found: CompiledRoute | undefined;
}

/** One step per route. */
export function* tryRoutes(
  routes: readonly CompiledRoute[],
  asked: Asked & { readonly path: string },
): Steps<TriedRoutes> {
  const { headers, path: bare, info } = asked;
  const tried: TriedRoute[] = [];
  let omitted = 0;
  for (const [position, route] of routes.entries()) {
    yield;
    const { name, match } = route.resource;
    const fits = route.matches(headers, bare, info);
    if (!fits && tried.length >= LISTED_MAX) {
      omitted += 1;
      continue;
    }
    const said = { position, name, match: routeText(match) };
    if (fits) return { found: route, tried: [...tried, said], omitted };
    const why = route.matchesPath(headers, bare)
      ? firstFailure(match, asked)
      : failed('path', pathText(match.path, match.caseSensitive), quoted(bare));
    tried.push({ ...said, failed: why });
  }
  return { found: undefined, tried, omitted };
}

interface Asked {
  readonly headers: HeaderMap;
  readonly info: StreamInfo;
  readonly runtime: Runtime;
}

/** A condition that is drawn at random may hold by now. */
function firstFailure(match: RouteMatch, { headers, info, runtime }: Asked): FailedCondition {
  const conditions = conditionsOf(match, runtime);
  const condition = conditions.find((each) => !each.passes(headers, info)) ?? conditions[0];
  return condition?.describe(headers, info) ?? failed('path', 'another path', quoted(headers.path));
}
