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

/** Undefined after a reported problem. `resolveDefault` resolves `default_config` as any filter. */
export function resolveDiscoveredFilter(
  name: string,
  message: ExtensionConfigSource,
  resolveDefault: (
    config: NonNullable<ExtensionConfigSource['default_config']>,
  ) => HttpFilter | undefined,
  scope: Scope,
): DiscoveredFilterSettings | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const { config_source: config, default_config: fallback } = message;
  const types = (message.type_urls ?? []).map(typeNameOf);
  const source = config && resolveConfigSource(config, scope.at('config_source'));
  if (source === undefined) return undefined;
  const type = fallback === undefined ? undefined : typeNameOf(fallback['@type']);
  if (type !== undefined && !types.includes(type)) {
    scope.error('conflict', unexpectedType(type, types));
    return undefined;
  }
  const resolved = fallback && resolveDefault(fallback);
  if (fallback !== undefined && resolved === undefined) return undefined;
  const waits = message.apply_default_config_without_warming !== true;
  const key = `${name} ${types.join(' ')} ${JSON.stringify(source)}`;
  scope.context.onNamedFilter?.({ key, name, source, types, waits });
  return {
    kind: 'discovered',
    name,
    options: { key, ...(resolved === undefined ? {} : { fallback: resolved }) },
  };
}

/** In Envoy's words. */
export function unexpectedType(type: string, types: readonly string[]): string {
  return `Error: filter config has type URL ${type} but expect ${types.join(', ')}.`;
}
