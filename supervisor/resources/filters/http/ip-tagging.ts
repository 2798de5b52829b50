/** Resolves envoy.extensions.filters.http.ip_tagging.v3.IPTagging. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type {
  IPTagging,
  IPTagging_IpTagHeader as HeaderMessage,
} from '../../../../shared/api/generated/envoy/extensions/filters/http/ip_tagging/v3/ip_tagging.ts';
import type {
  DataSource,
  WatchedDirectory,
} from '../../../../shared/api/generated/envoy/config/core/v3/base.ts';
import type {
  IpTaggingFilterSettings,
  IpTaggingOptions,
  IpTag,
} from '../../../../shared/resources/filters/http/ip-tagging.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { asciiLower } from '../../matchers/string-matcher.ts';
import { readDataSource } from '../../data-source.ts';
import type { Scope } from '../../scope.ts';
import { optional } from '../../values.ts';
import { readTagsFile, resolveTags } from '../common/ip-tags-file.ts';
import { httpFilter } from '../http-filter-row.ts';

const FIELDS = knownFields<IPTagging>([
  'request_type',
  'ip_tags',
  'ip_tag_header',
  'ip_tags_datasource',
]);
const WATCHED_FIELDS = knownFields<WatchedDirectory>(['path']);
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
  const { request_type: requests = 'BOTH', ip_tag_header: header } = message;
  if (header !== undefined) refuseOtherFields(header, HEADER_FIELDS, scope.at('ip_tag_header'));
  return {
    requests: requests === 'INTERNAL' || requests === 'EXTERNAL' ? requests : 'BOTH',
    ...tagsOf(message, scope),
    header: asciiLower(header?.header ?? DEFAULT_HEADER),
    appends: header?.action === 'APPEND_IF_EXISTS_OR_ADD',
    sanitizes: header !== undefined && header.action !== 'APPEND_IF_EXISTS_OR_ADD',
  };
}

function tagsOf(
  { ip_tags: tags = [], ip_tags_datasource: source }: IPTagging,
  scope: Scope,
): Pick<IpTaggingOptions, 'tags' | 'laterTags'> {
  if (source !== undefined && tags.length > 0) {
    scope.error('conflict', 'Only one of ip_tags or ip_tags_datasource can be configured.');
  } else if (source !== undefined) return tagsOfFile(source, scope.at('ip_tags_datasource'));
  else if (tags.length === 0) {
    scope.error(
      'conflict',
      'HTTP IP Tagging Filter requires one of ip_tags or ip_tags_datasource to be specified.',
    );
  }
  return { tags: resolveTags(tags, scope.at('ip_tags')) };
}

function tagsOfFile(
  { watched_directory: watched, ...source }: DataSource,
  scope: Scope,
): Pick<IpTaggingOptions, 'tags' | 'laterTags'> {
  const path = source.filename ?? '';
  if (path === '') {
    scope.error('conflict', 'Cannot load tags from empty filename in datasource.');
    return { tags: [] };
  }
  const missing = (name: string): string => `unable to create data source 'Invalid path: ${name}'`;
  const content = readDataSource(source, scope, missing);
  const tags: readonly IpTag[] = (content && readTagsFile(path, content, scope)) ?? [];
  return {
    tags,
    ...optional('laterTags', content && watched && laterTags({ path, content }, watched, scope)),
  };
}

/** The secret by which tags come that are moved into the file's place. */
function laterTags(
  { path, content }: { readonly path: string; readonly content: Uint8Array },
  watched: WatchedDirectory,
  scope: Scope,
): string {
  const place = scope.at('watched_directory');
  refuseOtherFields(watched, WATCHED_FIELDS, place);
  const directory = watched.path ?? '';
  if (!existsSync(directory)) {
    const why = `unable to add filesystem watch for file ${directory}: No such file or directory`;
    place.error('file', `unable to create data source '${why}'`);
  }
  const key = `ip_tags ${JSON.stringify([path, directory])}`;
  const digest = createHash('sha256').update(content).digest('hex');
  const named = { key, name: 'ip_tags', kind: 'generic', tags: path, directory, digest } as const;
  scope.context.onNamedSecret?.(named);
  return key;
}
