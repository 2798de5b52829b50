/** Resolves envoy.config.route.v3.HeaderMatcher, its deprecated fields included. */
import type { HeaderMatcher as HeaderMatcherMessage } from '../../../shared/api/generated/envoy/config/route/v3/route_components.ts';
import type { HeaderMatcher } from '../../../shared/resources/routes/matchers.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { resolveRegex } from './regex.ts';
import { asciiLower, resolveStringMatcher, textMatcher } from './string-matcher.ts';

const FIELDS = knownFields<HeaderMatcherMessage>([
  'name',
  'exact_match',
  'safe_regex_match',
  'range_match',
  'present_match',
  'prefix_match',
  'suffix_match',
  'contains_match',
  'string_match',
  'invert_match',
  'treat_missing_header_as_empty',
]);

export function resolveHeaderMatchers(
  messages: readonly HeaderMatcherMessage[] | undefined,
  scope: Scope,
): readonly HeaderMatcher[] {
  const matchers = (messages ?? []).map((message, index) =>
    resolveHeaderMatcher(message, scope.at(index)),
  );
  return matchers.filter((matcher) => matcher !== undefined);
}

/** Undefined after a reported problem. */
export function resolveHeaderMatcher(
  message: HeaderMatcherMessage,
  scope: Scope,
): HeaderMatcher | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const match = resolveMatch(message, scope);
  if (match === undefined) return undefined;
  return {
    name: wireHeaderName(message.name ?? ''),
    invert: message.invert_match ?? false,
    treatMissingAsEmpty: message.treat_missing_header_as_empty ?? false,
    match,
  };
}

function resolveMatch(
  message: HeaderMatcherMessage,
  scope: Scope,
): HeaderMatcher['match'] | undefined {
  if (message.string_match !== undefined) {
    const matcher = resolveStringMatcher(message.string_match, scope.at('string_match'));
    return matcher === undefined ? undefined : { kind: 'string', matcher };
  }
  if (message.safe_regex_match !== undefined) {
    const regex = resolveRegex(message.safe_regex_match, scope.at('safe_regex_match'));
    return regex === undefined ? undefined : { kind: 'string', matcher: { kind: 'regex', regex } };
  }
  if (message.range_match !== undefined) {
    const { start = '0', end = '0' } = message.range_match;
    return { kind: 'range', start: Number(start), end: Number(end) };
  }
  for (const kind of ['exact', 'prefix', 'suffix', 'contains'] as const) {
    const value = message[`${kind}_match`];
    if (value !== undefined) {
      return { kind: 'string', matcher: textMatcher(kind, value, false) };
    }
  }
  return { kind: 'present', present: message.present_match ?? true };
}

/** Lower case, with `host` under the name that it has in HTTP/2. */
function wireHeaderName(name: string): string {
  const lower = asciiLower(name);
  return lower === 'host' ? ':authority' : lower;
}
