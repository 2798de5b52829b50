/** Tags that a configuration adds to spans and log records; those of a route replace a manager's of that name. */
import { toByteString } from '../../shared/regex/byte-string.ts';
import type { CustomTag } from '../../shared/resources/tracing/tracing.ts';
import { metadataValue, type NamespacedMetadata } from '../matching/metadata-value.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { compileTextFormat } from '../substitution/compile-format.ts';

type Source = Extract<CustomTag, { readonly kind: 'metadata' }>['source'];

export interface CompiledTag {
  readonly name: string;
  /** Undefined or empty: there is no such tag. */
  value(info: StreamInfo): string | undefined;
}

export function compileTags(
  own: readonly CustomTag[],
  ofRoute: readonly CustomTag[] = [],
): readonly CompiledTag[] {
  const byName = new Map([...own, ...ofRoute].map((tag) => [tag.name, tag]));
  return [...byName.values()].map((tag) => ({ name: tag.name, value: valueOf(tag) }));
}

export function visitTags(
  tags: readonly CompiledTag[],
  info: StreamInfo,
  visit: (name: string, value: string) => void,
): void {
  for (const tag of tags) {
    const value = tag.value(info);
    if (value !== undefined && value !== '') visit(tag.name, value);
  }
}

function valueOf(tag: CustomTag): CompiledTag['value'] {
  switch (tag.kind) {
    case 'literal':
      return () => tag.value;
    case 'header':
      return (info) => info.requestHeaders?.get(tag.header) ?? tag.fallback;
    case 'metadata':
      return (info) => metadataText(info, tag) ?? tag.fallback;
    case 'format': {
      const format = compileTextFormat(tag.format, { omitEmptyValues: true });
      return (info) => format(info);
    }
  }
}

const SOURCES = {
  request: (info) => info.dynamicMetadata,
  route: (info) => info.route?.metadata,
  cluster: (info) => info.upstreamClusterMetadata,
  host: (info) => info.upstreamHost?.metadata,
} as const satisfies Record<Source, (info: StreamInfo) => NamespacedMetadata | undefined>;

function metadataText(
  info: StreamInfo,
  { source, key }: Extract<CustomTag, { readonly kind: 'metadata' }>,
): string | undefined {
  const value = metadataValue(SOURCES[source](info), key.namespace, key.path);
  switch (typeof value) {
    case 'string':
      return toByteString(value);
    case 'number':
    case 'boolean':
      return String(value);
    case 'object':
      return value === null ? undefined : toByteString(JSON.stringify(value));
    default:
      return undefined;
  }
}
