/** Looks values of metadata up, by namespace and path. */

/** By namespace: dynamic metadata is a map, configured metadata an object. */
export type NamespacedMetadata =
  | ReadonlyMap<string, Readonly<Record<string, unknown>>>
  | Readonly<Record<string, Readonly<Record<string, unknown>>>>;

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

/** Of an object; undefined for what is none, and for a member that it inherits. */
export function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, key) ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}
