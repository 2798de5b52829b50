/** Resolves envoy.config.core.v3.Metadata to plain JSON by filter name, and where in it a value stands. */
import type { Metadata as MetadataMessage } from '../../shared/api/generated/envoy/config/core/v3/base.ts';
import type { MetadataKey as KeyMessage } from '../../shared/api/generated/envoy/type/metadata/v3/metadata.ts';
import type { Metadata, MetadataKey } from '../../shared/resources/route.ts';

/** Typed metadata is for extensions that read it; none here does. */
export function resolveMetadata(message: MetadataMessage | undefined): Metadata | undefined {
  return message?.filter_metadata;
}

export function resolveMetadataKey({ key: namespace = '', path = [] }: KeyMessage): MetadataKey {
  return { namespace, path: path.map(({ key = '' }) => key) };
}
