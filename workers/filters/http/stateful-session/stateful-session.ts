/**
 * Keeps a client at the host that answered it first: the host's address travels in a cookie or a
 * header. Source: envoy.filters.http.stateful_session.
 */
import type {
  SessionState,
  StatefulSessionPerRoute,
  StatefulSessionFilterSettings,
} from '../../../../shared/resources/filters/http/stateful-session.ts';
import { cookieValue, setCookie } from '../../../stream/cookies.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import type { FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';
import { decodeBase64, readSessionCookie, writeSessionCookie } from './session-cookie.ts';

export function makeStatefulSessionFilter(
  { name, options: own }: StatefulSessionFilterSettings,
  { loop }: FilterContext,
): FilterFactory {
  const wallSeconds = (): number => Math.floor(loop.clock.wallMs / 1000);
  return {
    name,
    create: (callbacks) => {
      const ofRoute = callbacks.routeConfig(name) as StatefulSessionPerRoute | undefined;
      const options = ofRoute === undefined ? own : ofRoute.session;
      return options?.state === undefined
        ? new PassThroughFilter()
        : new StatefulSessionFilter(options.state, options.strict, { callbacks, wallSeconds });
    },
  };
}

interface SessionParts {
  readonly callbacks: FilterCallbacks;
  readonly wallSeconds: () => number;
}

class StatefulSessionFilter extends PassThroughFilter {
  readonly #state: SessionState;
  readonly #isStrict: boolean;
  readonly #parts: SessionParts;
  /** The request's path is one that the cookie is for. */
  #isMeant = true;
  #address: string | undefined = undefined;

  constructor(state: SessionState, isStrict: boolean, parts: SessionParts) {
    super();
    this.#state = state;
    this.#isStrict = isStrict;
    this.#parts = parts;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const state = this.#state;
    const parts = this.#parts;
    this.#isMeant = state.kind === 'header' || isBelow(headers.path, state.cookie.path);
    if (!this.#isMeant) return 'continue';
    const address =
      state.kind === 'header'
        ? decodeBase64(headers.get(state.name) ?? '')?.toString('latin1')
        : readSessionCookie(cookieValue(headers, state.cookie.name), parts.wallSeconds());
    if (address === undefined) return 'continue';
    this.#address = address;
    parts.callbacks.info.overrideHost = { address, isStrict: this.#isStrict };
    return 'continue';
  }

  override encodeHeaders(headers: HeaderMap): HeadersStatus {
    const state = this.#state;
    const parts = this.#parts;
    const host = parts.callbacks.info.upstreamHost?.address;
    if (!this.#isMeant || host === undefined || host === this.#address) return 'continue';
    if (state.kind === 'header') headers.set(state.name, Buffer.from(host).toString('base64'));
    else {
      const value = writeSessionCookie(host, state.cookie.ttlMs ?? 0, parts.wallSeconds());
      headers.add('set-cookie', setCookie(state.cookie, value));
    }
    return 'continue';
  }
}

/** Whether the path is the cookie's or below it (RFC 6265, section 5.1.4). */
function isBelow(requestPath: string, cookiePath: string): boolean {
  if (cookiePath === '' || cookiePath === '/') return true;
  const end = requestPath.search(/[?#]/);
  const path = end < 0 ? requestPath : requestPath.slice(0, end);
  if (!path.startsWith(cookiePath)) return false;
  return (
    path.length === cookiePath.length || cookiePath.endsWith('/') || path[cookiePath.length] === '/'
  );
}
