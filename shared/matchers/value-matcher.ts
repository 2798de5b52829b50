/** Compiles matchers of metadata: values of protobuf Structs, looked up by namespace and path. */
import { toByteString } from '../regex/byte-string.ts';
import type { MetadataMatcher, ValueMatcher } from '../resources/matchers.ts';
import { compileStringMatcher } from './string-matcher.ts';

/** Undefined stands for a value that is not there. */
export type ValuePredicate = (value: unknown) => boolean;

export type MetadataPredicate = (metadata: NamespacedMetadata | undefined) => boolean;

/** By namespace: dynamic metadata is a map, configured metadata an object. */
export type NamespacedMetadata =
  | ReadonlyMap<string, Readonly<Record<string, unknown>>>
  | Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export function compileMetadataMatcher(matcher: MetadataMatcher): MetadataPredicate {
  const { namespace, path, invert } = matcher;
  const matches = compileValueMatcher(matcher.value);
  return (metadata) => matches(metadataValue(metadata, namespace, path)) !== invert;
}

export function metadataValue(
  metadata: NamespacedMetadata | undefined,
  namespace: string,
  path: readonly string[],
): unknown {
  let value: unknown =
    metadata instanceof Map ? metadata.get(namespace) : memberOf(metadata, namespace);
  for (const key of path) value = memberOf(value, key);
  return value;
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, key) ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}

export function compileValueMatcher(matcher: ValueMatcher): ValuePredicate {
  switch (matcher.kind) {
    case 'null':
      return (value) => value === null;
    case 'bool':
      return (value) => value === matcher.value;
    case 'number':
      return (value) => value === matcher.exact;
    case 'range':
      return (value) => typeof value === 'number' && value >= matcher.start && value < matcher.end;
    case 'string': {
      const matches = compileStringMatcher(matcher.matcher);
      return (value) => typeof value === 'string' && matches(toByteString(value));
    }
    case 'present':
      // As in the reference: what is not there never matches, not even where it should be missing.
      return (value) => value !== undefined && matcher.present;
    case 'list': {
      const matches = compileValueMatcher(matcher.item);
      return (value) => Array.isArray(value) && value.some((item) => matches(item));
    }
    case 'or': {
      const some = matcher.matchers.map(compileValueMatcher);
      return (value) => some.some((matches) => matches(value));
    }
  }
}
