/** Compiles matchers of metadata: values of protobuf Structs, looked up by namespace and path. */
import { toByteString } from '../../shared/regex/byte-string.ts';
import type { MetadataMatcher, ValueMatcher } from '../../shared/resources/routes/matchers.ts';
import { metadataValue, type NamespacedMetadata } from './metadata-value.ts';
import { compileStringMatcher } from '../../shared/matchers/string-matcher.ts';

/** Undefined stands for a value that is not there. */
export type ValuePredicate = (value: unknown) => boolean;

export type MetadataPredicate = (metadata: NamespacedMetadata | undefined) => boolean;

export function compileMetadataMatcher(matcher: MetadataMatcher): MetadataPredicate {
  const { namespace, path, invert } = matcher;
  const matches = compileValueMatcher(matcher.value);
  return (metadata) => matches(metadataValue(metadata, namespace, path)) !== invert;
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
      // As in Envoy: what is not there never matches, not even where it should be missing.
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
