/** Compiles the path specifier of a route. Paths come without query. */
import type { HeaderMap } from '../stream/header-map.ts';
import { asciiLower } from '../../shared/text/ascii.ts';
import { makeRegexRunner } from '../../shared/regex/run-regex.ts';
import type { PathMatch } from '../../shared/resources/routes/route.ts';
import { compilePathTemplate, literalPrefixOf } from './path-template.ts';
import type { TextPredicate } from '../../shared/matchers/string-matcher.ts';

export interface PathMatcher {
  readonly matches: TextPredicate;
  /** Every matching path begins with this; empty when nothing is known. */
  readonly literalPrefix: string;
  /** Whether it matches CONNECT and CONNECT-UDP requests, and nothing else. */
  readonly isConnect: boolean;
}

/** Case is ignored only where Envoy does: not in regular expressions and templates. */
export function compilePathMatcher(match: PathMatch, caseSensitive: boolean): PathMatcher {
  switch (match.kind) {
    case 'prefix':
    case 'path':
    case 'path_separated_prefix': {
      if (caseSensitive) return plainMatcher(match.kind, match.value, match.value);
      const { matches } = plainMatcher(match.kind, asciiLower(match.value), '');
      return known((path) => matches(asciiLower(path)), '');
    }
    case 'regex': {
      const runner = makeRegexRunner(match.regex);
      return known((path) => runner.test(path), '');
    }
    case 'template': {
      const template = compilePathTemplate(match.template);
      return known((path) => template.matches(path), literalPrefixOf(match.template));
    }
    case 'connect':
      return { matches: () => false, literalPrefix: '', isConnect: true };
  }
}

function known(matches: TextPredicate, literalPrefix: string): PathMatcher {
  return { matches, literalPrefix, isConnect: false };
}

function plainMatcher(
  kind: 'prefix' | 'path' | 'path_separated_prefix',
  value: string,
  literalPrefix: string,
): PathMatcher {
  switch (kind) {
    case 'prefix':
      return known((path) => path.startsWith(value), literalPrefix);
    case 'path':
      return known((path) => path === value, literalPrefix);
    case 'path_separated_prefix':
      return known(
        (path) =>
          path.startsWith(value) && (path.length === value.length || path[value.length] === '/'),
        literalPrefix,
      );
  }
}

/** Requests that ask for a tunnel of datagrams (RFC 9298), in the form that codecs give them. */
export function isConnectUdp(headers: HeaderMap): boolean {
  return headers.get('upgrade')?.toLowerCase() === 'connect-udp';
}
