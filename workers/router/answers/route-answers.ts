/** Answers of routes that lead to no cluster: redirects and direct responses. */
import type { TerminalCallbacks } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { DirectResponseRoute, RedirectRoute } from '../../stream/route.ts';
import type { RouterLedger } from '../ledger/router-ledger.ts';

interface AnswerContext {
  readonly ledger: RouterLedger;
  readonly suppressEnvoyHeaders: boolean;
}

export function answerRequest(
  route: RedirectRoute | DirectResponseRoute,
  headers: HeaderMap,
  callbacks: TerminalCallbacks,
  { ledger, suppressEnvoyHeaders }: AnswerContext,
): void {
  ledger.unrouted('direct_response');
  if (route.kind === 'redirect') redirect(route, headers, callbacks, suppressEnvoyHeaders);
  else respond(route, headers, callbacks);
}

function redirect(
  route: RedirectRoute,
  headers: HeaderMap,
  callbacks: TerminalCallbacks,
  suppressesHeaders: boolean,
): void {
  const { info } = callbacks;
  const location = route.location(headers, info);
  if (route.rewritePath !== undefined) {
    if (!suppressesHeaders) headers.set('x-envoy-original-path', headers.path);
    headers.path = route.rewritePath(headers.path, info) ?? headers.path;
  }
  callbacks.sendLocalReply({
    status: route.status,
    body: '',
    details: 'direct_response',
    modifyHeaders: (answer) => answer.add('location', location),
  });
}

function respond(
  route: DirectResponseRoute,
  headers: HeaderMap,
  callbacks: TerminalCallbacks,
): void {
  const { info } = callbacks;
  callbacks.sendLocalReply({
    status: route.status,
    body: route.body(headers, info) ?? '',
    details: 'direct_response',
    contentType: route.contentType,
    modifyHeaders: (answer) => {
      const location = route.location(headers, info);
      if (location !== undefined) answer.add('location', location);
    },
  });
}
