/** Settings and stats of envoy.filters.http.ip_tagging. */
import type { IpRange } from '../../../addresses/ip-ranges.ts';
import { defineTemplate } from '../../../stats/template.ts';
import { counter } from '../../../stats/templates/spec.ts';
import { declareKind, type FilterResource } from '../declare-filter.ts';

export interface IpTag {
  readonly name: string;
  readonly ranges: readonly IpRange[];
}

export interface IpTaggingOptions {
  readonly requests: 'BOTH' | 'INTERNAL' | 'EXTERNAL';
  readonly tags: readonly IpTag[];
  /** The secret that later tags of a watched file come by: JSON of an `IpTag[]`. */
  readonly laterTags?: string;
  /** In lower case. */
  readonly header: string;
  /** Tags come behind what the client sent; else they take its place. */
  readonly appends: boolean;
  /** What the client sent goes, also when there is no tag. */
  readonly sanitizes: boolean;
}

/**
 * Prefix: `http.<stat_prefix>.ip_tagging.`; of each tag that, and its name. They exist once they
 * have counted something.
 */
export const IP_TAGGING = defineTemplate('ip_tagging', {
  total: counter('Requests looked at'),
});
export const IP_TAGS_FILE = defineTemplate('ip_tags_file', {
  reload_success: counter('Times that the file of tags was read again'),
});
export const IP_UNTAGGED = defineTemplate('ip_untagged', {
  no_hit: counter('Requests that no tag is for'),
});
export const IP_TAG = defineTemplate('ip_tag', {
  hit: counter('Requests that the tag is for'),
});

export type IpTaggingFilterSettings = FilterResource<'ip_tagging', IpTaggingOptions>;

export const IP_TAGGING_DECLARATION = declareKind<IpTaggingFilterSettings>(
  IP_TAGGING,
  IP_TAGS_FILE,
  IP_UNTAGGED,
  IP_TAG,
);
