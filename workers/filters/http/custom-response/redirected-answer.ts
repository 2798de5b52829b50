/**
 * Responses that are replaced by that to another request: the request goes back to the beginning of
 * its filters with another address. What comes then is not replaced again.
 */
import { parseTarget } from '../../../../shared/addresses/absolute-url.ts';
import type {
  CUSTOM_RESPONSE,
  RedirectedAnswer,
} from '../../../../shared/resources/filters/http/matching/custom-response.ts';
import { compileHeaderMutations } from '../../../routing/header-mutations.ts';
import { compileRedirectLocation, type LocationOf } from '../../../routing/redirect-location.ts';
import type { FilterCallbacks } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { JOINED_IN_REQUESTS, JOINED_IN_RESPONSES } from '../../../stream/joined-headers.ts';
import type { StreamInfo } from '../../../stream/stream-info.ts';

export type CountRedirect = (stat: keyof typeof CUSTOM_RESPONSE.index) => void;

export interface CompiledRedirected {
  readonly kind: 'redirect';
  /** False: there is nowhere to go, and the response stays. */
  redirect(response: HeaderMap, callbacks: FilterCallbacks): boolean;
}

/** What is known of the response that is replaced. */
class Replacement {
  readonly #change: (headers: HeaderMap, info: StreamInfo) => void;
  readonly #status: number;

  constructor(change: (headers: HeaderMap, info: StreamInfo) => void, status: number) {
    this.#change = change;
    this.#status = status;
  }

  changeResponse(headers: HeaderMap, info: StreamInfo): void {
    info.responseCode = headers.status;
    this.#change(headers, info);
    headers.status = this.#status;
  }
}

/** Whether the response comes in place of another one; it is given what is configured then. */
export function changeReplacement(headers: HeaderMap, info: StreamInfo): boolean {
  if (!(info.inPlaceOf instanceof Replacement)) return false;
  info.inPlaceOf.changeResponse(headers, info);
  return true;
}

export function compileRedirected(
  { to, status, requestHeaders, responseHeaders }: RedirectedAnswer,
  count: CountRedirect,
): CompiledRedirected {
  const locationOf = compileTarget(to);
  const changeRequest = compileHeaderMutations(
    [{ add: requestHeaders, remove: [] }],
    JOINED_IN_REQUESTS,
  );
  const changeResponse = compileHeaderMutations(
    [{ add: responseHeaders, remove: [] }],
    JOINED_IN_RESPONSES,
  );
  return {
    kind: 'redirect',
    redirect(response, callbacks) {
      const { info } = callbacks;
      const request = info.requestHeaders;
      if (request === undefined) return false;
      const target = parseTarget(locationOf(request, info));
      if (target === undefined) {
        count('custom_response_invalid_uri');
        return false;
      }
      const { scheme, authority, path } = request;
      ({ scheme: request.scheme, authority: request.authority, path: request.path } = target);
      callbacks.clearRoute();
      if (callbacks.route === undefined) {
        count('custom_response_redirect_no_route');
        [request.scheme, request.authority, request.path] = [scheme, authority, path];
        return false;
      }
      changeRequest?.(request, info);
      request.method = 'GET';
      request.remove('content-length');
      info.inPlaceOf = new Replacement(
        (headers, of) => changeResponse?.(headers, of),
        status ?? response.status,
      );
      info.responseCodeDetails = 'internal_redirect';
      callbacks.restartRequest();
      return true;
    },
  };
}

/** Any path fits the redirects of this filter, which rewrite none. */
function compileTarget(to: RedirectedAnswer['to']): LocationOf {
  if (to.kind !== 'uri') return compileRedirectLocation(to, { kind: 'prefix', value: '/' });
  const { uri } = to;
  return () => uri;
}
