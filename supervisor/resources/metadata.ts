/** Resolves envoy.config.core.v3.Metadata to plain JSON by filter name. */
import type { Metadata as MetadataMessage } from '../../shared/api/generated/envoy/config/core/v3/base.ts';
import type { Metadata } from '../../shared/resources/route.ts';

/** Typed metadata is for extensions that read it; none here does. */
export function resolveMetadata(message: MetadataMessage | undefined): Metadata | undefined {
  return message?.filter_metadata;
}
