/**
 * Extension configuration that is written as a TypedStruct: plain JSON with the name of its type.
 */
import type { Any } from '../../shared/api/well-known.ts';
import { ApiCatalog } from '../config/api/api-catalog.ts';
import type { MessageObject } from '../config/convert/message-object.ts';
import { unpackAny } from '../config/message-codec.ts';
import type { Scope } from './scope.ts';

const OPAQUE = /\/(?:xds\.type\.v3|udpa\.type\.v1)\.TypedStruct$/;

/** Any other message as it is. Undefined after a reported problem. */
export function unpackOpaque(config: Any, scope: Scope): Any | undefined {
  if (!OPAQUE.test(config['@type'])) return config;
  const { context, place } = scope;
  const options = {
    catalog: new ApiCatalog(),
    sink: context.problems,
    unknownFields: 'refuse',
    ...(place === undefined ? {} : { place }),
  } as const;
  return unpackAny(options, config as unknown as MessageObject)?.message as Any | undefined;
}
