/** Resolves which requests a tap records, in both forms that the API has for it. */
import type { MatchPredicate } from '../../../../../shared/api/generated/envoy/config/common/matcher/v3/matcher.ts';
import type { MatchPredicate as OldMatchPredicate } from '../../../../../shared/api/generated/envoy/config/tap/v3/common.ts';
import type { TapMatch } from '../../../../../shared/resources/tap.ts';
import { resolveHeaderMatchers } from '../../../matchers/header-matcher.ts';
import type { Scope } from '../../../scope.ts';

type AnyPredicate = MatchPredicate | OldMatchPredicate;
type BodyMatch = NonNullable<MatchPredicate['http_request_generic_body_match']>;
type HeadersMatch = NonNullable<MatchPredicate['http_request_headers_match']>;

export function resolveTapMatch(message: AnyPredicate, scope: Scope): TapMatch {
  const { or_match: or, and_match: and, not_match: not } = message;
  if (or !== undefined) return { kind: 'or', rules: rulesOf(or, scope.at('or_match')) };
  if (and !== undefined) return { kind: 'and', rules: rulesOf(and, scope.at('and_match')) };
  if (not !== undefined) {
    return { kind: 'not', rule: resolveTapMatch(not, scope.at('not_match')) };
  }
  return headersOf(message, scope) ?? bodyOf(message) ?? { kind: 'any' };
}

function rulesOf(set: { readonly rules?: readonly AnyPredicate[] }, scope: Scope): TapMatch[] {
  return (set.rules ?? []).map((rule, index) => resolveTapMatch(rule, scope.at('rules', index)));
}

const HEADERS = [
  'request_headers',
  'request_trailers',
  'response_headers',
  'response_trailers',
] as const;

function headersOf(message: AnyPredicate, scope: Scope): TapMatch | undefined {
  for (const of of HEADERS) {
    const name = `http_${of}_match` as const;
    const match: HeadersMatch | undefined = message[name];
    if (match === undefined) continue;
    const matchers = resolveHeaderMatchers(match.headers, scope.at(name, 'headers'));
    return { kind: 'headers', of, matchers };
  }
  return undefined;
}

function bodyOf(message: AnyPredicate): TapMatch | undefined {
  for (const of of ['request', 'response'] as const) {
    const match: BodyMatch | undefined = message[`http_${of}_generic_body_match`];
    if (match === undefined) continue;
    const patterns = (match.patterns ?? []).map(
      ({ string_match: text, binary_match: bytes }) =>
        bytes ?? Buffer.from(text ?? '').toString('base64'),
    );
    return { kind: 'body', of, bytesLimit: match.bytes_limit ?? 0, patterns };
  }
  return undefined;
}
