/** Resolves envoy.config.route.v3.RedirectAction. */
import type { RedirectAction as RedirectMessage } from '../../../shared/api/generated/envoy/config/route/v3/route_components.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import type { RedirectAction } from '../../../shared/resources/routes/route.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { checkFormat } from '../access-logs/format.ts';
import { resolveRewrite } from '../matchers/regex.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';

const FIELDS = knownFields<RedirectMessage>([
  'https_redirect',
  'scheme_redirect',
  'host_redirect',
  'port_redirect',
  'path_redirect',
  'prefix_rewrite',
  'regex_rewrite',
  'path_rewrite',
  'response_code',
  'strip_query',
]);

const STATUS: Readonly<Record<string, RedirectAction['status']>> = {
  MOVED_PERMANENTLY: 301,
  FOUND: 302,
  SEE_OTHER: 303,
  TEMPORARY_REDIRECT: 307,
  PERMANENT_REDIRECT: 308,
};

export function resolveRedirect(message: RedirectMessage, scope: Scope): RedirectAction {
  refuseOtherFields(message, FIELDS, scope);
  const { scheme_redirect: scheme, host_redirect: host, port_redirect: port } = message;
  return {
    kind: 'redirect',
    status: STATUS[message.response_code ?? 'MOVED_PERMANENTLY'] ?? 301,
    httpsRedirect: message.https_redirect ?? false,
    ...optional('schemeRedirect', scheme === undefined ? undefined : toByteString(scheme)),
    ...optional('hostRedirect', host === undefined ? undefined : toByteString(host)),
    ...optional('portRedirect', port),
    ...optional('path', resolvePath(message, scope)),
    stripQuery: message.strip_query ?? false,
  };
}

function resolvePath(message: RedirectMessage, scope: Scope): RedirectAction['path'] {
  if (message.path_redirect !== undefined) {
    return { kind: 'path', value: toByteString(message.path_redirect) };
  }
  if (message.prefix_rewrite !== undefined) {
    return { kind: 'prefix', value: toByteString(message.prefix_rewrite) };
  }
  if (message.path_rewrite !== undefined && message.path_rewrite !== '') {
    const failure = 'Failed to create path_rewrite formatter: INVALID_ARGUMENT: ';
    const format = checkFormat(message.path_rewrite, scope.at('path_rewrite'), { failure });
    return { kind: 'format', format };
  }
  if (message.regex_rewrite === undefined) return undefined;
  const rewrite = resolveRewrite(message.regex_rewrite, scope.at('regex_rewrite'));
  return rewrite === undefined ? undefined : { kind: 'regex', ...rewrite };
}
