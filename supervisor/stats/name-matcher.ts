/** Tests names of statistics against string matchers of the configuration. */
import type { StringMatcher } from '../../shared/resources/routes/matchers.ts';
import { toByteString } from '../../shared/regex/byte-string.ts';
import { asciiLower } from '../../shared/text/ascii.ts';
import { makeRegexRunner } from '../../shared/regex/run-regex.ts';
import { DEFAULT_BUCKETS, type HistogramBucketSetting, type StatsMatcher } from './stats-config.ts';

export type NamePredicate = (name: string) => boolean;

/** Regular expressions have to match the whole name, as everywhere in string matchers. */
export function namePredicate(matcher: StringMatcher): NamePredicate {
  if (matcher.kind === 'regex') {
    const runner = makeRegexRunner(matcher.regex);
    return (name) => runner.test(toByteString(name));
  }
  const { kind, value, ignoreCase } = matcher;
  const compare = plainPredicate(kind, value);
  return ignoreCase
    ? (name) => compare(asciiLower(toByteString(name)))
    : (name) => compare(toByteString(name));
}

/** Which statistics exist under this matcher; undefined when all do. */
export function acceptedNames(matcher: StatsMatcher | undefined): NamePredicate | undefined {
  if (matcher === undefined) return undefined;
  const predicates = matcher.patterns.map(namePredicate);
  const accepts = matcher.action === 'accept';
  return (name) => predicates.some((matches) => matches(name)) === accepts;
}

/** The upper bounds of the buckets of each histogram by its name. */
export function bucketBounds(
  settings: readonly HistogramBucketSetting[],
): (name: string) => readonly number[] {
  if (settings.length === 0) return () => DEFAULT_BUCKETS;
  const compiled = settings.map(({ match, buckets }) => ({
    matches: namePredicate(match),
    buckets,
  }));
  return (name) => compiled.find(({ matches }) => matches(name))?.buckets ?? DEFAULT_BUCKETS;
}

function plainPredicate(
  kind: Exclude<StringMatcher['kind'], 'regex'>,
  value: string,
): NamePredicate {
  switch (kind) {
    case 'exact':
      return (name) => name === value;
    case 'prefix':
      return (name) => name.startsWith(value);
    case 'suffix':
      return (name) => name.endsWith(value);
    case 'contains':
      return (name) => name.includes(value);
  }
}
