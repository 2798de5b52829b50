/**
 * An HTTP filter whose settings come from elsewhere (`config_discovery`): its source, the types
 * that it may be, and what serves until the settings are there.
 */
import { typeNameOf } from '../../../config/type-name.ts';
import type { ExtensionConfigSource } from '../../../../shared/api/generated/envoy/config/core/v3/config_source.ts';
import type { DiscoveredFilterSettings } from '../../../../shared/resources/filters/http/discovered.ts';
import type { HttpFilter } from '../../../../shared/resources/filters/http-filters.ts';
import { resolveConfigSource } from '../../config-source.ts';

import { knownFields, refuseOtherFields } from '../../fields.ts';
import type { Scope } from '../../scope.ts';

const FIELDS = knownFields<ExtensionConfigSource>([
  'config_source',
  'default_config',
  'apply_default_config_without_warming',
  'type_urls',
]);

/** Where the filter stands. */
export interface FilterPlace {
  readonly isUpstream: boolean;
  readonly isKnownType: (url: string) => boolean;
  /** Resolves `default_config` as any filter. */
  readonly resolveDefault: (
    config: NonNullable<ExtensionConfigSource['default_config']>,
  ) => HttpFilter | undefined;
}

/** Undefined after a reported problem. */
export function resolveDiscoveredFilter(
  name: string,
  message: ExtensionConfigSource,
  { isUpstream, isKnownType, resolveDefault }: FilterPlace,
  scope: Scope,
): DiscoveredFilterSettings | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const { config_source: config, default_config: fallback } = message;
  const types = typesOf(message, isKnownType, scope);
  const source = config && resolveConfigSource(config, scope.at('config_source'));
  if (source === undefined || types === undefined) return undefined;
  const type = fallback === undefined ? undefined : typeNameOf(fallback['@type']);
  if (type !== undefined && !types.includes(type)) {
    scope.error('conflict', unexpectedType(type, types));
    return undefined;
  }
  const resolved = fallback && resolveDefault(fallback);
  if (fallback !== undefined && resolved === undefined) return undefined;
  const waits = message.apply_default_config_without_warming !== true;
  const place = isUpstream ? 'upstream ' : '';
  const key = `${place}${name} ${types.join(' ')} ${JSON.stringify(source)}`;
  scope.context.onNamedFilter?.({ key, name, source, types, waits, isUpstream });
  return {
    kind: 'discovered',
    name,
    options: { key, ...(resolved === undefined ? {} : { fallback: resolved }) },
  };
}

/** Undefined after a reported problem. */
function typesOf(
  { type_urls: urls = [] }: ExtensionConfigSource,
  isKnownType: (url: string) => boolean,
  scope: Scope,
): readonly string[] | undefined {
  const unknown = urls.find((url) => !isKnownType(url));
  if (unknown === undefined) return urls.map(typeNameOf);
  const type = typeNameOf(unknown);
  scope.error('extension', `Error: no factory found for a required type URL ${type}.`);
  return undefined;
}

/** In Envoy's words. */
export function unexpectedType(type: string, types: readonly string[]): string {
  return `Error: filter config has type URL ${type} but expect ${types.join(', ')}.`;
}
