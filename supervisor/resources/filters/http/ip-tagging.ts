/** Resolves envoy.extensions.filters.http.ip_tagging.v3.IPTagging. */
import type {
  IPTagging,
  IPTagging_IPTag as TagMessage,
  IPTagging_IpTagHeader as HeaderMessage,
} from '../../../../shared/api/generated/envoy/extensions/filters/http/ip_tagging/v3/ip_tagging.ts';
import { toByteString } from '../../../../shared/regex/byte-string.ts';
import type {
  IpTaggingFilterSettings,
  IpTaggingOptions,
} from '../../../../shared/resources/filters/http/ip-tagging.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { resolveRanges } from '../../matchers/filter-state-matcher.ts';
import { asciiLower } from '../../matchers/string-matcher.ts';
import type { Scope } from '../../scope.ts';
import { httpFilter } from '../http-filter-row.ts';

const FIELDS = knownFields<IPTagging>(['request_type', 'ip_tags', 'ip_tag_header']);
const TAG_FIELDS = knownFields<TagMessage>(['ip_tag_name', 'ip_list']);
const HEADER_FIELDS = knownFields<HeaderMessage>(['header', 'action']);
const DEFAULT_HEADER = 'x-envoy-ip-tags';

export const IP_TAGGING_FILTER = httpFilter(
  'envoy.filters.http.ip_tagging',
  'envoy.extensions.filters.http.ip_tagging.v3.IPTagging',
  (message: IPTagging, scope, name): IpTaggingFilterSettings => ({
    kind: 'ip_tagging',
    name,
    options: resolveOptions(message, scope),
  }),
);

function resolveOptions(message: IPTagging, scope: Scope): IpTaggingOptions {
  refuseOtherFields(message, FIELDS, scope);
  const { request_type: requests = 'BOTH', ip_tags: tags = [], ip_tag_header: header } = message;
  if (header !== undefined) refuseOtherFields(header, HEADER_FIELDS, scope.at('ip_tag_header'));
  if (tags.length === 0) {
    scope.error(
      'conflict',
      'HTTP IP Tagging Filter requires one of ip_tags or ip_tags_datasource to be specified.',
    );
  }
  return {
    requests: requests === 'INTERNAL' || requests === 'EXTERNAL' ? requests : 'BOTH',
    tags: tags.map((tag, index) => {
      const place = scope.at('ip_tags', index);
      refuseOtherFields(tag, TAG_FIELDS, place);
      const ranges = resolveRanges(tag.ip_list, place.at('ip_list'));
      return { name: toByteString(tag.ip_tag_name ?? ''), ranges };
    }),
    header: asciiLower(header?.header ?? DEFAULT_HEADER),
    appends: header?.action === 'APPEND_IF_EXISTS_OR_ADD',
    sanitizes: header !== undefined && header.action !== 'APPEND_IF_EXISTS_OR_ADD',
  };
}
