/**
 * Extension configuration that is written as a TypedStruct: plain JSON with the name of its type.
 */
import type { Any } from '../../shared/api/well-known.ts';
import { ApiCatalog } from '../config/api/api-catalog.ts';
import type { MessageObject } from '../config/convert/message-object.ts';
import { unpackAny } from '../config/message-codec.ts';
import type { Scope } from './scope.ts';

const OPAQUE = /\/(?:xds\.type\.v3|udpa\.type\.v1)\.TypedStruct$/;

/** The type URL of what a message is in the end. */
export function innerTypeUrl(config: Any): string {
  if (!OPAQUE.test(config['@type'])) return config['@type'];
  const { type_url: url } = config as { readonly type_url?: unknown };
  return typeof url === 'string' ? url : '';
}

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
