/** Resolves how a connection manager words the answers that it makes itself. */
import type { SubstitutionFormatString } from '../../../shared/api/generated/envoy/config/core/v3/substitution_format_string.ts';
import type {
  LocalReplyConfig,
  ResponseMapper,
} from '../../../shared/api/generated/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.ts';
import type {
  LocalReplyFormat,
  LocalReplyMapper,
  LocalReplyOptions,
} from '../../../shared/resources/local-reply.ts';
import { resolveFilter } from '../access-logs/filter.ts';
import { resolveFormat } from '../access-logs/format.ts';
import { readDataSource } from '../data-source.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveHeaderValue } from '../routes/header-changes.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';

const FIELDS = knownFields<LocalReplyConfig>(['mappers', 'body_format']);
const MAPPER_FIELDS = knownFields<ResponseMapper>([
  'filter',
  'status_code',
  'body',
  'body_format_override',
  'headers_to_add',
]);

export function resolveLocalReply(
  message: LocalReplyConfig | undefined,
  scope: Scope,
): LocalReplyOptions | undefined {
  if (message === undefined) return undefined;
  refuseOtherFields(message, FIELDS, scope);
  const mappers = (message.mappers ?? []).map((mapper, index) =>
    resolveMapper(mapper, scope.at('mappers', index)),
  );
  return {
    mappers: mappers.filter((mapper) => mapper !== undefined),
    ...optional('bodyFormat', resolveBodyFormat(message.body_format, scope.at('body_format'))),
  };
}

function resolveMapper(message: ResponseMapper, scope: Scope): LocalReplyMapper | undefined {
  refuseOtherFields(message, MAPPER_FIELDS, scope);
  const filter = resolveFilter(message.filter ?? {}, scope.at('filter'));
  const body = message.body && readDataSource(message.body, scope.at('body'));
  const place = scope.at('body_format_override');
  const headers = (message.headers_to_add ?? []).map((option, index) =>
    resolveHeaderValue(option, scope.at('headers_to_add', index)),
  );
  if (filter === undefined) return undefined;
  return {
    filter,
    ...optional('status', message.status_code),
    ...optional('body', body?.toString('latin1')),
    ...optional('bodyFormat', resolveBodyFormat(message.body_format_override, place)),
    headers,
  };
}

export function resolveBodyFormat(
  message: SubstitutionFormatString | undefined,
  scope: Scope,
): LocalReplyFormat | undefined {
  if (message === undefined) return undefined;
  const contentType = message.content_type === '' ? undefined : message.content_type;
  return { format: resolveFormat(message, scope), ...optional('contentType', contentType) };
}
