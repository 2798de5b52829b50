/**
 * Decides whether a redirect of an upstream is followed here instead of being passed on, and turns
 * the request into the one that the redirect asks for. Sends nothing.
 */
import { parseTarget, type Target } from '../../../shared/addresses/absolute-url.ts';
import { KindTable } from '../../../shared/resources/by-kind.ts';
import type {
  InternalRedirect,
  InternalRedirectPredicate,
} from '../../../shared/resources/routes/route.ts';
import type { TerminalCallbacks } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { FollowedRedirects, StreamInfo } from '../../stream/stream-info.ts';
import type { ClusterRoute, ResolvedRoute } from '../../stream/route.ts';
import type { RequestCopy } from '../retry/request-copy.ts';
import type { RedirectRefusal, RouterLedger } from '../ledger/router-ledger.ts';
import type { RoutedRequest } from '../ledger/routed-request.ts';

const SEE_OTHER = 303;

interface RedirectParts {
  readonly request: RoutedRequest;
  readonly route: ClusterRoute;
  readonly callbacks: TerminalCallbacks;
  readonly ledger: RouterLedger;
}

/**
 * Whether the stream was begun again with the response's target. `copy` is the whole request,
 * undefined when it is not whole or was too long to be kept.
 */
export function followRedirect(
  response: HeaderMap,
  copy: RequestCopy | undefined,
  { request, route, callbacks, ledger }: RedirectParts,
): boolean {
  const { internalRedirect: policy } = route.action;
  if (policy === undefined || !policy.codes.includes(response.status)) return false;
  const { info } = callbacks;
  const headers = info.requestHeaders;
  const method = headers?.method ?? '';
  const verdict =
    copy === undefined || headers === undefined
      ? undefined
      : applyRedirect(response, headers, { route, policy, callbacks });
  const isFollowed = verdict === 'follow';
  ledger.redirected(request, isFollowed, isFollowed ? undefined : verdict);
  if (!isFollowed) return false;
  info.responseCode = response.status;
  info.responseCodeDetails = 'internal_redirect';
  const isGetFromNow = response.status === SEE_OTHER && method !== 'GET' && method !== 'HEAD';
  callbacks.recreateStream(isGetFromNow ? undefined : copy);
  return true;
}

interface RedirectRules {
  readonly route: ClusterRoute;
  readonly policy: InternalRedirect;
  readonly callbacks: TerminalCallbacks;
}

/**
 * Changes the request's headers and the stream's route to the redirect's target and gives 'follow',
 * or changes nothing but, where no route fits, the stream's route, and gives the reason; undefined for a response without a target.
 */
function applyRedirect(
  response: HeaderMap,
  headers: HeaderMap,
  rules: RedirectRules,
): 'follow' | RedirectRefusal | undefined {
  const { policy, callbacks } = rules;
  const { info } = callbacks;
  const location = response.get('location');
  if (location === undefined || location === '') return undefined;
  const target = parseTarget(location);
  if (target === undefined) return 'bad_location';
  const isHttp = headers.scheme !== 'https';
  if (!policy.allowCrossScheme && isHttp !== (target.scheme === 'http')) return 'unsafe_scheme';
  const followed = info.followedRedirects ?? { count: 0, routes: new Set<string>() };
  if (followed.count >= policy.maxRedirects) return 'too_many_redirects';
  const before = headers.clone();
  copyResponseHeaders(response, headers, policy.responseHeadersToCopy);
  headers.scheme = target.scheme;
  headers.authority = target.authority;
  headers.path = target.path;
  callbacks.clearRoute();
  const { route: reached } = callbacks;
  const refusal = refusalOf(rules, { reached, followed, isHttp, target });
  if (refusal !== undefined) {
    restore(headers, before);
    if (reached === undefined) info.upstreamCluster = '';
    return refusal;
  }
  if (response.status === SEE_OTHER && headers.method !== 'HEAD') {
    headers.method = 'GET';
    headers.remove('content-length');
  }
  const scheme = isHttp ? 'http' : 'https';
  headers.set('x-envoy-original-url', `${scheme}://${before.authority}${before.path}`);
  noteFollowed(info, followed, rules.route, reached);
  return 'follow';
}

function copyResponseHeaders(
  response: HeaderMap,
  headers: HeaderMap,
  names: readonly string[],
): void {
  for (const name of names) {
    headers.remove(name);
    response.forEach((each, value) => {
      if (each === name) headers.add(name, value);
    });
  }
}

function restore(headers: HeaderMap, before: HeaderMap): void {
  headers.takeFields(before);
  headers.scheme = before.scheme;
  headers.authority = before.authority;
  headers.path = before.path;
}

interface Step {
  readonly reached: ResolvedRoute | undefined;
  readonly followed: FollowedRedirects;
  readonly isHttp: boolean;
  readonly target: Target;
}

function refusalOf({ route, policy }: RedirectRules, step: Step): RedirectRefusal | undefined {
  if (step.reached === undefined) return 'no_route';
  const isAccepted = policy.predicates.every((each) => PREDICATES.make(each, route, step));
  return isAccepted ? undefined : 'predicate';
}

/** Whether each lets a redirect be followed. */
const PREDICATES = new KindTable<
  InternalRedirectPredicate,
  [from: ClusterRoute, step: Step],
  boolean
>({
  previous_routes: (_, from, step) => !step.followed.routes.has(stepKey(from, nameOf(step))),
  allow_listed_routes: ({ routeNames }, _, step) => routeNames.includes(nameOf(step)),
  safe_cross_scheme: (_, __, step) => !step.isHttp || step.target.scheme !== 'https',
});

function nameOf({ reached }: Step): string {
  return reached?.routeName ?? '';
}

/** From which route a redirect led to which one: each way may be taken once. */
function stepKey(from: ClusterRoute, to: string): string {
  return `${from.routeName}\n${to}`;
}

function noteFollowed(
  info: StreamInfo,
  followed: FollowedRedirects,
  from: ClusterRoute,
  to: ResolvedRoute | undefined,
): void {
  const routes = new Set(followed.routes).add(stepKey(from, to?.routeName ?? ''));
  info.followedRedirects = { count: followed.count + 1, routes };
}
