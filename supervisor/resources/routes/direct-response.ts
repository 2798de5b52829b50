/** Resolves envoy.config.route.v3.DirectResponseAction; its body is read here, once. */
import type { DirectResponseAction as DirectResponseMessage } from '../../../shared/api/generated/envoy/config/route/v3/route_components.ts';
import type { DirectResponseAction } from '../../../shared/resources/routes/route.ts';
import { checkFormat } from '../access-logs/format.ts';
import { readDataSource } from '../data-source.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';

const FIELDS = knownFields<DirectResponseMessage>(['status', 'body', 'body_format']);

export function resolveDirectResponse(
  message: DirectResponseMessage,
  maxBodyBytes: number,
  scope: Scope,
): DirectResponseAction {
  refuseOtherFields(message, FIELDS, scope);
  const body =
    message.body === undefined
      ? undefined
      : readDataSource(message.body, scope.at('body'), (path) => `file ${path} does not exist`);
  // A limit of 0 is none.
  if (body !== undefined && maxBodyBytes > 0 && body.byteLength > maxBodyBytes) {
    scope
      .at('body')
      .error(
        'conflict',
        `response body size is ${body.byteLength} bytes; maximum is ${maxBodyBytes}`,
        'raise max_direct_response_body_size_bytes of the route configuration',
      );
  }
  return {
    kind: 'direct_response',
    status: message.status ?? 0,
    ...optional('body', body),
    ...optional('bodyFormat', resolveBodyFormat(message, scope)),
  };
}

function resolveBodyFormat(
  { body_format: format }: DirectResponseMessage,
  scope: Scope,
): DirectResponseAction['bodyFormat'] {
  if (format === undefined) return undefined;
  const place = scope.at('body_format');
  if (format.json_format !== undefined) {
    place.at('json_format').unsupported('a JSON body format of a direct response is');
    return undefined;
  }
  const text =
    format.text_format ??
    readDataSource(format.text_format_source ?? {}, place.at('text_format_source'))?.toString();
  return {
    format: checkFormat(text ?? '', place),
    contentType: format.content_type ?? 'text/plain',
  };
}
