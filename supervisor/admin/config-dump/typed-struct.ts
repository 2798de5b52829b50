/** Reads configuration that is written as a TypedStruct as the type that it names. */
import type { JsonObject } from '../../../shared/api/well-known.ts';
import { ApiCatalog } from '../../config/api/api-catalog.ts';
import type { MessageObject } from '../../config/convert/message-object.ts';
import { unpackAny } from '../../config/message-codec.ts';

const OPAQUE: ReadonlySet<string> = new Set([
  'xds.type.v3.TypedStruct',
  'udpa.type.v1.TypedStruct',
]);

/** Made once: it keeps the types that it has read. */
let catalog: ApiCatalog | undefined;

export function isTypedStruct(typeName: string): boolean {
  return OPAQUE.has(typeName);
}

/**
 * Its `value` as a normalised message of the type that it names, `@type` included, as Envoy
 * dumps it; undefined when that type is not known or the value is none of it.
 */
export function readTypedStruct(typeName: string, struct: JsonObject): JsonObject | undefined {
  const any = { ...struct, '@type': `/${typeName}` } as unknown as MessageObject;
  // What is wrong with it was reported when it was loaded.
  const sink = { report: () => undefined };
  catalog ??= new ApiCatalog();
  const options = { catalog, sink, unknownFields: 'ignore' } as const;
  return unpackAny(options, any)?.message as JsonObject | undefined;
}
