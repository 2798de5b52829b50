/** Looks values of metadata up, by namespace and path. */
import { memberOf, type Dictionary, type Struct } from '../../shared/text/dictionary.ts';

/** By namespace: dynamic metadata is a map, configured metadata an object. */
export type NamespacedMetadata = ReadonlyMap<string, Struct> | Dictionary<Struct>;

/** Undefined where there is none. */
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
