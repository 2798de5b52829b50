/** Says what a matcher wants in a few words, for people who ask why a route was not taken. */
import type { FailedCondition } from '../../../shared/explain/explanation.ts';
import type {
  HeaderMatcher,
  QueryParameterMatcher,
  RuntimeFraction,
  StringMatcher,
} from '../../../shared/resources/routes/matchers.ts';
import type { PathMatch, RouteMatch } from '../../../shared/resources/routes/route.ts';

/** Longer texts of a request or a pattern are cut. */
const TEXT_MAX = 200;

export function failed(condition: string, wants: string, actual: string): FailedCondition {
  return { condition, wants, actual };
}

/** A text of the request, or that it is not there. */
export function quoted(text: string | undefined): string {
  if (text === undefined) return 'not there';
  return JSON.stringify(text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text);
}

export function pathText(path: PathMatch, caseSensitive: boolean): string {
  switch (path.kind) {
    case 'connect':
      return 'CONNECT';
    case 'regex':
      return `regex ${quoted(path.regex.pattern)}`;
    case 'template':
      return `template ${quoted(path.template)}`;
    case 'prefix':
    case 'path':
    case 'path_separated_prefix': {
      const name = path.kind === 'path' ? 'path' : path.kind.replaceAll('_', ' ');
      return `${name} ${quoted(path.value)}${caseSensitive ? '' : ', in any case'}`;
    }
  }
}

export function stringText(matcher: StringMatcher): string {
  if (matcher.kind === 'regex') return `regex ${quoted(matcher.regex.pattern)}`;
  return `${matcher.kind} ${quoted(matcher.value)}${matcher.ignoreCase ? ', in any case' : ''}`;
}

export function headerText({ match, invert }: HeaderMatcher): string {
  const not = invert ? 'not ' : '';
  switch (match.kind) {
    case 'present':
      return match.present === invert ? 'must not be there' : 'must be there';
    case 'string':
      return not + stringText(match.matcher);
    case 'range':
      return `${not}a whole number from ${match.start}, below ${match.end}`;
  }
}

export function parameterText({ present, matcher }: QueryParameterMatcher): string {
  if (matcher !== undefined) return stringText(matcher);
  return present === false ? 'must not be there' : 'must be there';
}

export function fractionText({ runtimeKey, numerator, denominator }: RuntimeFraction): string {
  const share = `${numerator} of ${denominator}`;
  return runtimeKey === undefined ? share : `${share}, or as runtime key ${runtimeKey} says`;
}

/** What a route matches, in one line. */
export function routeText(match: RouteMatch): string {
  const parts = [
    pathText(match.path, match.caseSensitive),
    ...match.headers.map((matcher) => `header ${matcher.name} ${headerText(matcher)}`),
    ...match.queryParameters.map((each) => `query parameter ${each.name} ${parameterText(each)}`),
    ...(match.cookies ?? []).map(({ name }) => `cookie ${name}`),
    ...(match.dynamicMetadata ?? []).map(({ namespace }) => `dynamic metadata of ${namespace}`),
    ...(match.filterState ?? []).map(({ key }) => `filter state ${key}`),
    ...(match.grpcOnly ? ['gRPC'] : []),
    ...(match.tls === undefined ? [] : ['a client certificate']),
    ...(match.runtimeFraction === undefined ? [] : [fractionText(match.runtimeFraction)]),
  ];
  return parts.join('; ');
}
