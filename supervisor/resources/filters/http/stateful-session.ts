/** Resolves envoy.filters.http.stateful_session and its ways to remember a host. */
import type { TypedExtensionConfig } from '../../../../shared/api/generated/envoy/config/core/v3/extension.ts';
import type {
  StatefulSession,
  StatefulSessionPerRoute as PerRouteMessage,
} from '../../../../shared/api/generated/envoy/extensions/filters/http/stateful_session/v3/stateful_session.ts';
import type { CookieBasedSessionState } from '../../../../shared/api/generated/envoy/extensions/http/stateful_session/cookie/v3/cookie.ts';
import type { HeaderBasedSessionState } from '../../../../shared/api/generated/envoy/extensions/http/stateful_session/header/v3/header.ts';
import type { Cookie } from '../../../../shared/api/generated/envoy/type/http/v3/cookie.ts';
import type {
  StatefulSessionFilterSettings,
  SessionState,
  StatefulSessionOptions,
  StatefulSessionPerRoute,
} from '../../../../shared/resources/filters/http/stateful-session.ts';
import { extension, ExtensionRegistry } from '../../extensions.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { asciiLower } from '../../matchers/string-matcher.ts';
import type { Scope } from '../../scope.ts';
import { durationMs, optional } from '../../values.ts';
import { httpFilter, perRoute } from '../http-filter-row.ts';

const FIELDS = knownFields<StatefulSession>([
  'session_state',
  'strict',
  'stat_prefix',
  'status_on_strict_destination_not_found',
]);
const PER_ROUTE_FIELDS = knownFields<PerRouteMessage>(['disabled', 'stateful_session']);
const COOKIE_FIELDS = knownFields<Cookie>(['name', 'ttl', 'path', 'attributes']);

export const SESSION_STATES = new ExtensionRegistry<SessionState>(
  'envoy.http.stateful_session',
  'session state',
  {
    cookie: extension(
      'envoy.http.stateful_session.cookie',
      'envoy.extensions.http.stateful_session.cookie.v3.CookieBasedSessionState',
      ({ cookie = {} }: CookieBasedSessionState, scope) => ({
        kind: 'cookie',
        cookie: resolveCookie(cookie, scope.at('cookie')),
      }),
    ),
    header: extension(
      'envoy.http.stateful_session.header',
      'envoy.extensions.http.stateful_session.header.v3.HeaderBasedSessionState',
      ({ name = '' }: HeaderBasedSessionState) => ({
        kind: 'header',
        name: asciiLower(name),
      }),
    ),
  },
);

const STATEFUL_SESSION_PER_ROUTE_TYPE =
  'envoy.extensions.filters.http.stateful_session.v3.StatefulSessionPerRoute';

export const STATEFUL_SESSION_FILTER = httpFilter(
  'envoy.filters.http.stateful_session',
  'envoy.extensions.filters.http.stateful_session.v3.StatefulSession',
  (message: StatefulSession, scope, name): StatefulSessionFilterSettings => ({
    kind: 'stateful_session',
    name,
    options: resolveSession(message, scope),
  }),
  perRoute(STATEFUL_SESSION_PER_ROUTE_TYPE, resolveStatefulSessionPerRoute),
);

function resolveStatefulSessionPerRoute(
  message: PerRouteMessage,
  scope: Scope,
): StatefulSessionPerRoute {
  refuseOtherFields(message, PER_ROUTE_FIELDS, scope);
  const { stateful_session: session } = message;
  if (session === undefined || message.disabled === true) return {};
  return { session: resolveSession(session, scope.at('stateful_session')) };
}

function resolveSession(message: StatefulSession, scope: Scope): StatefulSessionOptions {
  refuseOtherFields(message, FIELDS, scope);
  return {
    ...optional('state', resolveState(message.session_state, scope.at('session_state'))),
    strict: message.strict ?? false,
    ...optional('strictStatus', message.status_on_strict_destination_not_found || undefined),
    ...optional('statScope', scopeOf(message.stat_prefix)),
  };
}

function scopeOf(prefix: string | undefined): string | undefined {
  return prefix === undefined || prefix === '' ? undefined : `stateful_session.${prefix}.`;
}

function resolveState(
  message: TypedExtensionConfig | undefined,
  scope: Scope,
): SessionState | undefined {
  return message === undefined ? undefined : SESSION_STATES.resolve(message, scope);
}

function resolveCookie(
  message: Cookie,
  scope: Scope,
): Extract<SessionState, { kind: 'cookie' }>['cookie'] {
  refuseOtherFields(message, COOKIE_FIELDS, scope);
  return {
    name: message.name ?? '',
    ...optional('ttlMs', message.ttl === undefined ? undefined : durationMs(message.ttl)),
    path: message.path ?? '',
    attributes: (message.attributes ?? []).map(({ name = '', value = '' }) => ({ name, value })),
  };
}
