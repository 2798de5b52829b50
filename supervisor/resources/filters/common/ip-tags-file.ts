/** Tags of addresses that stand in a file: IPTagging.IPTags in YAML or JSON. */
import type {
  IPTagging_IPTag as TagMessage,
  IPTagging_IPTags as TagsMessage,
} from '../../../../shared/api/generated/envoy/extensions/filters/http/ip_tagging/v3/ip_tagging.ts';
import { toByteString } from '../../../../shared/regex/byte-string.ts';
import type { IpTag } from '../../../../shared/resources/filters/http/ip-tagging.ts';
import { ApiCatalog } from '../../../config/api/api-catalog.ts';
import { messageFromText } from '../../../config/message-from-text.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { resolveRanges } from '../../matchers/filter-state-matcher.ts';
import type { Scope } from '../../scope.ts';

const TAGS_TYPE = 'envoy.extensions.filters.http.ip_tagging.v3.IPTagging.IPTags';
const TAG_FIELDS = knownFields<TagMessage>(['ip_tag_name', 'ip_list']);

export function resolveTags(tags: readonly TagMessage[], scope: Scope): readonly IpTag[] {
  return tags.map((tag, index) => {
    const place = scope.at(index);
    refuseOtherFields(tag, TAG_FIELDS, place);
    const ranges = resolveRanges(tag.ip_list, place.at('ip_list'));
    return { name: toByteString(tag.ip_tag_name ?? ''), ranges };
  });
}

/** Undefined after a reported problem. The file's name says what it is. */
export function readTagsFile(
  path: string,
  content: Uint8Array,
  scope: Scope,
): readonly IpTag[] | undefined {
  const format = /\.ya?ml$/.test(path) ? 'yaml' : path.endsWith('.json') ? 'json' : undefined;
  if (format === undefined) {
    scope.error('file', `Unsupported file format, unable to parse ip tags from file ${path}`);
    return undefined;
  }
  if (content.length === 0) {
    scope.error('file', `file ${path} is empty`);
    return undefined;
  }
  const { context, place } = scope;
  const options = {
    catalog: new ApiCatalog(),
    sink: context.problems,
    unknownFields: 'refuse',
    ...(place === undefined ? {} : { place }),
  } as const;
  const message = messageFromText<TagsMessage>(options, TAGS_TYPE, { format, content });
  return message && resolveTags(message.ip_tags ?? [], scope);
}
