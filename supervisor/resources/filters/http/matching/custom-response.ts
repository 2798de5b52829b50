/** Resolves envoy.filters.http.custom_response, for a chain and per route. */
import type { CustomResponse } from '../../../../../shared/api/generated/envoy/extensions/filters/http/custom_response/v3/custom_response.ts';
import type { LocalResponsePolicy } from '../../../../../shared/api/generated/envoy/extensions/http/custom_response/local_response_policy/v3/local_response_policy.ts';
import type { RedirectPolicy } from '../../../../../shared/api/generated/envoy/extensions/http/custom_response/redirect_policy/v3/redirect_policy.ts';
import { toByteString } from '../../../../../shared/regex/byte-string.ts';
import { parseTarget } from '../../../../../shared/addresses/absolute-url.ts';
import { resolveRedirect } from '../../../routes/redirect.ts';
import type {
  RedirectedAnswer,
  CustomAnswer,
  LocalAnswer,
  CustomResponseFilterSettings,
  CustomResponseOptions,
} from '../../../../../shared/resources/filters/http/matching/custom-response.ts';
import { typeNameOf } from '../../../../config/type-name.ts';
import { readDataSource } from '../../../data-source.ts';
import { extension, ExtensionRegistry } from '../../../extensions.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import { resolveBodyFormat } from '../../../http/local-reply.ts';
import { resolveMatcherTree } from '../../../matchers/matcher-tree.ts';
import { resolveHeaderValue } from '../../../routes/header-changes.ts';
import type { Scope } from '../../../scope.ts';
import { optional } from '../../../values.ts';
import { httpFilter, perRoute } from '../../http-filter-row.ts';

const TYPE = 'envoy.extensions.filters.http.custom_response.v3.CustomResponse';
const POLICIES = 'envoy.extensions.http.custom_response';

export const CUSTOM_RESPONSE_FILTER = httpFilter(
  'envoy.filters.http.custom_response',
  TYPE,
  (message: CustomResponse, scope, name): CustomResponseFilterSettings => ({
    kind: 'custom_response',
    name,
    options: resolveOptions(message, scope),
  }),
  perRoute(TYPE, resolveOptions),
);

const FIELDS = knownFields<LocalResponsePolicy>([
  'body',
  'body_format',
  'status_code',
  'response_headers_to_add',
  'preserve_response_code_details',
  'response_code_details',
]);

export const CUSTOM_ANSWERS = new ExtensionRegistry<CustomAnswer>(
  'envoy.http.custom_response',
  'custom response policy',
  {
    local_response: extension(
      'envoy.extensions.http.custom_response.local_response_policy',
      `${POLICIES}.local_response_policy.v3.LocalResponsePolicy`,
      resolveAnswer,
    ),
    redirect: extension(
      'envoy.extensions.http.custom_response.redirect_policy',
      `${POLICIES}.redirect_policy.v3.RedirectPolicy`,
      resolveRedirected,
    ),
  },
);

function resolveAnswer(message: LocalResponsePolicy, scope: Scope): LocalAnswer {
  refuseOtherFields(message, FIELDS, scope);
  const body = message.body && readDataSource(message.body, scope.at('body'));
  const details = message.response_code_details;
  return {
    kind: 'local_response',
    body: body?.toString('latin1') ?? '',
    ...optional('status', message.status_code),
    ...optional('format', resolveBodyFormat(message.body_format, scope.at('body_format'))),
    headers: (message.response_headers_to_add ?? []).map((header, index) =>
      resolveHeaderValue(header, scope.at('response_headers_to_add', index)),
    ),
    ...optional('details', details === '' ? undefined : details),
    keepsDetails: message.preserve_response_code_details ?? false,
  };
}

const REDIRECT_FIELDS = knownFields<RedirectPolicy>([
  'uri',
  'redirect_action',
  'status_code',
  'response_headers_to_add',
  'request_headers_to_add',
]);

function resolveRedirected(message: RedirectPolicy, scope: Scope): RedirectedAnswer | undefined {
  refuseOtherFields(message, REDIRECT_FIELDS, scope);
  const to = resolveTarget(message, scope);
  if (to === undefined) return undefined;
  const headersAt = (field: 'request_headers_to_add' | 'response_headers_to_add') =>
    (message[field] ?? []).map((header, index) =>
      resolveHeaderValue(header, scope.at(field, index)),
    );
  return {
    kind: 'redirect',
    to,
    ...optional('status', message.status_code),
    requestHeaders: headersAt('request_headers_to_add'),
    responseHeaders: headersAt('response_headers_to_add'),
  };
}

/** In Envoy's words; undefined after a reported problem. */
function resolveTarget(
  { uri, redirect_action: action }: RedirectPolicy,
  scope: Scope,
): RedirectedAnswer['to'] | undefined {
  if (action === undefined) {
    const text = toByteString(uri ?? '');
    if (parseTarget(text) !== undefined) return { kind: 'uri', uri: text };
    const words = `Invalid uri specified for redirection for custom response: ${uri}`;
    scope.at('uri').error('conflict', words);
    return undefined;
  }
  const place = scope.at('redirect_action');
  for (const field of ['prefix_rewrite', 'regex_rewrite'] as const) {
    if (action[field] === undefined) continue;
    place.at(field).error('conflict', `${field} is not supported for Custom Response`);
    return undefined;
  }
  return resolveRedirect(action, place);
}

/** What is there before the response leaves. */
const INPUTS: ReadonlySet<string> = new Set([
  'envoy.type.matcher.v3.HttpResponseStatusCodeMatchInput',
  'envoy.type.matcher.v3.HttpResponseStatusCodeClassMatchInput',
  'envoy.type.matcher.v3.HttpResponseLocalReplyMatchInput',
  'envoy.type.matcher.v3.HttpResponseHeaderMatchInput',
  'xds.type.matcher.v3.HttpAttributesCelMatchInput',
  'envoy.type.matcher.v3.HttpRequestHeaderMatchInput',
]);

function resolveOptions(
  { custom_response_matcher: matcher }: CustomResponse,
  scope: Scope,
): CustomResponseOptions {
  if (matcher === undefined) return {};
  const tree = resolveMatcherTree(
    matcher,
    {
      resolveAction: (action, place) => CUSTOM_ANSWERS.resolve(action, place),
      checkInput(typeUrl, place) {
        if (INPUTS.has(typeNameOf(typeUrl))) return;
        place.unsupported(`an input of type '${typeNameOf(typeUrl)}' for custom responses is`);
      },
    },
    scope.at('custom_response_matcher'),
  );
  return { ...optional('tree', tree) };
}
