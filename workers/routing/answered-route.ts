/** Routes that Sluice answers itself: redirects, direct responses, the redirect to TLS. */
import type {
  DirectResponseAction,
  RedirectAction,
  Route,
  VirtualHost,
} from '../../shared/resources/routes/route.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { compileTextFormat } from '../substitution/compile-format.ts';
import { compilePathRewrite } from './path-rewrite.ts';
import { compileRedirectLocation, ownLocation, tlsLocation } from './redirect-location.ts';
import { filterSettingsOf, mutationsOf, NO_FILTER_SETTINGS } from './route-context.ts';
import type { RouteContext } from './route-context.ts';
import type { DirectResponseRoute, RedirectRoute, RouteCommon } from '../stream/route.ts';

export function compileRedirectRoute(
  route: Route,
  action: RedirectAction,
  context: RouteContext,
): RedirectRoute {
  const locationOf = compileRedirectLocation(action, route.match.path);
  const { path } = action;
  return {
    kind: 'redirect',
    ...commonPart(route, context),
    status: action.status,
    location: (headers, info) => locationOf(headers, info),
    rewritePath:
      path === undefined || path.kind === 'path' || path.kind === 'format'
        ? undefined
        : compilePathRewrite(path, route.match.path),
  };
}

const CREATED = 201;

export function compileDirectResponseRoute(
  route: Route,
  action: DirectResponseAction,
  context: RouteContext,
): DirectResponseRoute {
  const { status, body, bodyFormat } = action;
  const format = bodyFormat && compileTextFormat(bodyFormat.format, { omitEmptyValues: false });
  // RFC 9110, 10.2.2: a created or moved resource names its address; here that is the request's
  // own.
  const namesLocation = status === CREATED || (status >= 300 && status < 400);
  return {
    kind: 'direct_response',
    ...commonPart(route, context),
    status,
    contentType: bodyFormat?.contentType,
    body: format === undefined ? () => body : (_, info) => format(info),
    location: (headers) => (namesLocation ? ownLocation(headers) : undefined),
  };
}

/** What a virtual host with `require_tls` answers a plain request with. */
export function compileTlsRedirect(virtualHost: VirtualHost): RedirectRoute {
  return {
    kind: 'redirect',
    routeName: '',
    virtualHost,
    metadata: undefined,
    tracing: undefined,
    decorator: undefined,
    filterSettings: NO_FILTER_SETTINGS,
    status: 301,
    location: (headers) => tlsLocation(headers),
    rewritePath: undefined,
    finalizeResponseHeaders: () => undefined,
  };
}

function commonPart(route: Route, context: RouteContext): RouteCommon {
  const mutation = mutationsOf('response', context, route);
  return {
    routeName: route.name,
    virtualHost: context.virtualHost,
    metadata: route.metadata,
    tracing: route.tracing,
    decorator: route.decorator,
    filterSettings: filterSettingsOf(context, route),
    finalizeResponseHeaders: (headers: HeaderMap, info: StreamInfo) => mutation?.(headers, info),
  };
}
