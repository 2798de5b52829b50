/** Resolves what a line of an access log looks like: substitution formats as text or as JSON. */
import { dictionary, type Dictionary } from '../../../shared/text/dictionary.ts';
import type { DataSource } from '../../../shared/api/generated/envoy/config/core/v3/base.ts';
import type { SubstitutionFormatString } from '../../../shared/api/generated/envoy/config/core/v3/substitution_format_string.ts';
import type { JsonObject, JsonValue } from '../../../shared/api/well-known.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import type { AccessLogFormat, JsonFormatValue } from '../../../shared/resources/access-log.ts';
import { parseFormat } from '../../../shared/substitution/parse-format.ts';
import { readDataSource } from '../data-source.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';

/** Envoy's line for HTTP when no format is configured. */
const DEFAULT_FORMAT =
  '[%START_TIME%] "%REQUEST_HEADER(:METHOD)% %REQUEST_HEADER(X-ENVOY-ORIGINAL-PATH?:PATH)% ' +
  '%PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION% ' +
  '%RESPONSE_HEADER(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQUEST_HEADER(X-FORWARDED-FOR)%" ' +
  '"%REQUEST_HEADER(USER-AGENT)%" "%REQUEST_HEADER(X-REQUEST-ID)%" ' +
  '"%REQUEST_HEADER(:AUTHORITY)%" "%UPSTREAM_HOST%"\n';

const FIELDS = knownFields<SubstitutionFormatString>(
  [
    'text_format',
    'json_format',
    'text_format_source',
    'omit_empty_values',
    'formatters',
    'json_format_options',
  ],
  ['content_type'],
);

/** Commands that are an extension in the API and built in here, as in Envoy. */
export const FORMATTERS = new ExtensionRegistry<true>('envoy.formatter', 'formatter', [
  extension(
    'envoy.formatter.metadata',
    'envoy.extensions.formatter.metadata.v3.Metadata',
    () => true,
  ),
]);

export function defaultFormat(): AccessLogFormat {
  return textFormat(DEFAULT_FORMAT, false);
}

export function resolveFormat(
  message: SubstitutionFormatString | undefined,
  scope: Scope,
): AccessLogFormat {
  if (message === undefined) return defaultFormat();
  refuseOtherFields(message, FIELDS, scope);
  for (const [index, formatter] of (message.formatters ?? []).entries()) {
    FORMATTERS.resolve(formatter, scope.at('formatters', index));
  }
  const omitEmptyValues = message.omit_empty_values ?? false;
  if (message.json_format !== undefined) {
    return {
      kind: 'json',
      fields: jsonFormat(message.json_format, scope.at('json_format')),
      omitEmptyValues,
      sortProperties: message.json_format_options?.sort_properties ?? false,
    };
  }
  const source =
    message.text_format === undefined
      ? textOf(message.text_format_source ?? {}, scope.at('text_format_source'))
      : checkFormat(message.text_format, scope.at('text_format'));
  return textFormat(source, omitEmptyValues);
}

function textOf(source: DataSource, scope: Scope): string {
  return checkFormat(readDataSource(source, scope)?.toString('utf8') ?? '', scope);
}

/** Reports what is wrong with a substitution format; returns the text as it stands on the wire. */
export function checkFormat(text: string, scope: Scope): string {
  const result = parseFormat(text);
  if (!result.ok) scope.error('substitution_format', result.error);
  return toByteString(text);
}

export function textFormat(format: string, omitEmptyValues: boolean): AccessLogFormat {
  return { kind: 'text', format, omitEmptyValues };
}

/** Every string in it is a substitution format; other leaves are printed as they are. */
export function jsonFormat(fields: JsonObject, scope: Scope): Dictionary<JsonFormatValue> {
  return dictionary(
    Object.entries(fields).map(([key, value]) => [
      toByteString(key),
      jsonFormatValue(value, scope.at(key)),
    ]),
  );
}

function jsonFormatValue(value: JsonValue, scope: Scope): JsonFormatValue {
  if (typeof value === 'string') return checkFormat(value, scope);
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map((entry, index) => jsonFormatValue(entry, scope.at(index)));
  return jsonFormat(value, scope);
}

function isList(value: readonly JsonValue[] | JsonObject): value is readonly JsonValue[] {
  return Array.isArray(value);
}
