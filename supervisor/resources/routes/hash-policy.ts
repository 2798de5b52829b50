/** Resolves what of a request consistent hashing looks at. */
import type { RouteAction_HashPolicy as HashPolicyMessage } from '../../../shared/api/generated/envoy/config/route/v3/route_components.ts';
import type { HashPolicy } from '../../../shared/resources/routes/route.ts';
import { resolveRewrite } from '../matchers/regex.ts';
import { asciiLower } from '../matchers/string-matcher.ts';
import type { Scope } from '../scope.ts';
import { durationMs, optional } from '../values.ts';

export function resolveHashPolicies(
  messages: readonly HashPolicyMessage[] | undefined,
  scope: Scope,
): readonly HashPolicy[] {
  const policies = (messages ?? []).map((message, index) => resolveOne(message, scope.at(index)));
  return policies.filter((policy) => policy !== undefined);
}

function resolveOne(message: HashPolicyMessage, scope: Scope): HashPolicy | undefined {
  const terminal = message.terminal ?? false;
  if (message.header !== undefined) {
    const { header_name: name = '', regex_rewrite: rewrite } = message.header;
    const resolved =
      rewrite === undefined ? {} : resolveRewrite(rewrite, scope.at('header', 'regex_rewrite'));
    return { kind: 'header', name: asciiLower(name), ...resolved, terminal };
  }
  if (message.cookie !== undefined) return resolveCookie(message.cookie, terminal);
  if (message.query_parameter !== undefined) {
    return { kind: 'query_parameter', name: message.query_parameter.name ?? '', terminal };
  }
  if (message.filter_state !== undefined) {
    return { kind: 'filter_state', key: message.filter_state.key ?? '', terminal };
  }
  // Connection properties have the source address alone, and may leave even that out.
  return message.connection_properties?.source_ip === true
    ? { kind: 'source_ip', terminal }
    : undefined;
}

function resolveCookie(
  cookie: NonNullable<HashPolicyMessage['cookie']>,
  terminal: boolean,
): HashPolicy {
  const attributes = (cookie.attributes ?? []).map(({ name = '', value = '' }) => ({
    name,
    value,
  }));
  return {
    kind: 'cookie',
    name: cookie.name ?? '',
    ...optional('ttlMs', cookie.ttl === undefined ? undefined : durationMs(cookie.ttl)),
    path: cookie.path ?? '',
    attributes,
    terminal,
  };
}
