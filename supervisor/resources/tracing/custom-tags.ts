/** Resolves envoy.type.tracing.v3.CustomTag: what spans and logs carry beside Envoy's own tags. */
import type {
  CustomTag as TagMessage,
  CustomTag_Metadata as MetadataTag,
} from '../../../shared/api/generated/envoy/type/tracing/v3/custom_tag.ts';
import { environmentVariable } from '../../../shared/process/environment.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import type { CustomTag } from '../../../shared/resources/tracing/tracing.ts';
import { checkFormat } from '../access-logs/format.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { asciiLower } from '../matchers/string-matcher.ts';
import { resolveMetadataKey } from '../metadata.ts';
import type { Scope } from '../scope.ts';

const FIELDS = knownFields<TagMessage>(
  ['tag', 'literal', 'environment', 'request_header', 'metadata', 'value'],
  // Every tag is a text, as in Envoy's own tracers.
  ['value_type'],
);

export function resolveCustomTags(
  messages: readonly TagMessage[] | undefined,
  scope: Scope,
): readonly CustomTag[] {
  return (messages ?? []).flatMap((message, index): readonly CustomTag[] => {
    const place = scope.at(index);
    refuseOtherFields(message, FIELDS, place);
    const tag = resolveTag(message, place);
    return tag === undefined ? [] : [tag];
  });
}

function resolveTag(message: TagMessage, scope: Scope): CustomTag | undefined {
  const name = toByteString(message.tag ?? '');
  const { literal, environment, request_header: header, metadata, value } = message;
  if (literal !== undefined) {
    return { name, kind: 'literal', value: toByteString(literal.value ?? '') };
  }
  if (environment !== undefined) {
    const found = environmentVariable(environment.name ?? '') ?? environment.default_value ?? '';
    return { name, kind: 'literal', value: toByteString(found) };
  }
  if (header !== undefined) {
    const fallback = toByteString(header.default_value ?? '');
    return { name, kind: 'header', header: asciiLower(header.name ?? ''), fallback };
  }
  if (metadata !== undefined) return metadataTag(name, metadata, scope.at('metadata'));
  if (value !== undefined) {
    return { name, kind: 'format', format: checkFormat(value, scope.at('value')) };
  }
  return undefined;
}

function metadataTag(name: string, message: MetadataTag, scope: Scope): CustomTag | undefined {
  const { kind = {}, metadata_key: key = {}, default_value: fallback = '' } = message;
  const sources = ['request', 'route', 'cluster', 'host'] as const;
  const source = sources.find((each) => kind[each] !== undefined);
  if (source === undefined) {
    scope.at('kind').error('conflict', 'a metadata tag needs to say whose metadata it reads');
    return undefined;
  }
  return {
    name,
    kind: 'metadata',
    source,
    key: resolveMetadataKey(key),
    fallback: toByteString(fallback),
  };
}
