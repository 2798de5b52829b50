/** What subset a host or a request belongs to, as a text that is the same for equal values. */
import { dictionary, joined, memberOf } from '../../../shared/text/dictionary.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { SubsetCriteria } from '../../stream/route.ts';

/** The request's own subset of a selector with these keys, all of which it names. */
export function criteriaKey(keys: readonly string[], criteria: SubsetCriteria): string {
  return JSON.stringify(keys.map((key) => [key, canonical(memberOf(criteria, key))]));
}

/**
 * The host's subsets of a selector: none when it has not all keys, several where lists count so.
 */
export function subsetKeysOf(
  host: UpstreamHost,
  keys: readonly string[],
  listsAsAny: boolean,
): readonly string[] {
  const metadata = host.metadata?.['envoy.lb'];
  if (metadata === undefined) return [];
  let combinations: SubsetCriteria[] = [dictionary()];
  for (const key of keys) {
    const value = memberOf(metadata, key);
    if (value === undefined) return [];
    const values: readonly unknown[] = listsAsAny && Array.isArray(value) ? value : [value];
    combinations = combinations.flatMap((one) =>
      values.map((each) => joined(one, dictionary([[key, each]]))),
    );
  }
  return combinations.map((criteria) => criteriaKey(keys, criteria));
}

export function hasCriteria(
  host: UpstreamHost,
  criteria: SubsetCriteria,
  listsAsAny: boolean,
): boolean {
  const keys = Object.keys(criteria).sort();
  if (keys.length === 0) return true;
  return subsetKeysOf(host, keys, listsAsAny).includes(criteriaKey(keys, criteria));
}

/** Objects with their keys in order. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, each]) => [key, canonical(each)]);
}
