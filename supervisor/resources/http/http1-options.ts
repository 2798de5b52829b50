/** Resolves the HTTP/1 options of a connection manager. */
import type { Http1ProtocolOptions } from '../../../shared/api/generated/envoy/config/core/v3/protocol.ts';
import type { Http1ServerOptions } from '../../../shared/resources/listener.ts';
import type { StringMatcher } from '../../../shared/resources/routes/matchers.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveStringMatcher } from '../matchers/string-matcher.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';

const FIELDS = knownFields<Http1ProtocolOptions>(
  [
    'allow_absolute_url',
    'accept_http_10',
    'default_host_for_http_10',
    'header_key_format',
    'enable_trailers',
    'allow_chunked_length',
    'ignore_http_11_upgrade',
    'override_stream_error_on_invalid_http_message',
    'allow_custom_methods',
  ],
  // There is one parser, and full URLs are sent upstream alone.
  ['use_balsa_parser', 'send_fully_qualified_url'],
);

export const FORMATTERS = new ExtensionRegistry<'preserve'>(
  'envoy.http.stateful_header_formatters',
  'header formatter',
  [
    extension(
      'preserve_case',
      'envoy.extensions.http.header_formatters.preserve_case.v3.PreserveCaseFormatterConfig',
      () => 'preserve',
    ),
  ],
);

export function resolveHttp1Options(
  message: Http1ProtocolOptions | undefined,
  scope: Scope,
): Http1ServerOptions {
  const options = message ?? {};
  refuseOtherFields(options, FIELDS, scope);
  return {
    acceptHttp10: options.accept_http_10 ?? false,
    defaultHostForHttp10: options.default_host_for_http_10 ?? '',
    allowAbsoluteUrl: options.allow_absolute_url ?? true,
    enableTrailers: options.enable_trailers ?? false,
    allowChunkedLength: options.allow_chunked_length ?? false,
    headerCase: headerCase(options, scope),
    ...optional('allowsAnyMethod', options.allow_custom_methods),
    ...optional('ignoredUpgrades', resolveIgnored(options, scope)),
  };
}

function resolveIgnored(
  { ignore_http_11_upgrade: messages = [] }: Http1ProtocolOptions,
  scope: Scope,
): readonly StringMatcher[] | undefined {
  if (messages.length === 0) return undefined;
  const matchers = messages.map((message, index) =>
    resolveStringMatcher(message, scope.at('ignore_http_11_upgrade', index)),
  );
  return matchers.filter((matcher) => matcher !== undefined);
}

/** How names of headers are written. */
export function headerCase(
  { header_key_format: format }: Http1ProtocolOptions,
  scope: Scope,
): Http1ServerOptions['headerCase'] {
  if (format?.proper_case_words !== undefined) return 'proper';
  if (format?.stateful_formatter === undefined) return 'lower';
  const place = scope.at('header_key_format', 'stateful_formatter');
  return FORMATTERS.resolve(format.stateful_formatter, place) ?? 'lower';
}
