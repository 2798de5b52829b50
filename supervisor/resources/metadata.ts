/**
 * Resolves envoy.config.core.v3.Metadata to plain JSON by filter name, and where in it a value
 * stands.
 */
import { dictionary, structOf } from '../../shared/text/dictionary.ts';
import type { Metadata as MetadataMessage } from '../../shared/api/generated/envoy/config/core/v3/base.ts';
import type { MetadataKey as KeyMessage } from '../../shared/api/generated/envoy/type/metadata/v3/metadata.ts';
import type { Metadata, MetadataKey } from '../../shared/resources/routes/route.ts';

/** Typed metadata is for extensions that read it; none here does. */
export function resolveMetadata(message: MetadataMessage | undefined): Metadata | undefined {
  const namespaces = message?.filter_metadata;
  if (namespaces === undefined) return undefined;
  return dictionary(Object.entries(namespaces).map(([name, value]) => [name, structOf(value)]));
}

export function resolveMetadataKey({ key: namespace = '', path = [] }: KeyMessage): MetadataKey {
  return { namespace, path: path.map(({ key = '' }) => key) };
}
