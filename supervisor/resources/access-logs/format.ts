/** Resolves what a line of an access log looks like: substitution formats as text or as JSON. */
import { nearestName } from '../../../shared/text/nearest-name.ts';
import { dictionary, type Dictionary } from '../../../shared/text/dictionary.ts';
import type { DataSource } from '../../../shared/api/generated/envoy/config/core/v3/base.ts';
import type { SubstitutionFormatString } from '../../../shared/api/generated/envoy/config/core/v3/substitution_format_string.ts';
import type { JsonObject, JsonValue } from '../../../shared/api/well-known.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import type { AccessLogFormat, JsonFormatValue } from '../../../shared/resources/access-log.ts';
import { COMMANDS } from '../../../shared/substitution/commands.ts';
import { parseFormat } from '../../../shared/substitution/parse-format.ts';
import { readDataSource } from '../data-source.ts';
import type { Cel } from '../../../shared/api/generated/envoy/extensions/formatter/cel/v3/cel.ts';
import type { CelFeatures } from '../../../shared/cel/functions.ts';
import type { FormatCommand } from '../../../shared/substitution/format.ts';
import { PLAIN_CEL } from '../../cel/compile-cel.ts';
import { celFeatures, packExpressions } from '../cel.ts';
import { extension, ExtensionRegistry, type ExtensionMessage } from '../extensions.ts';
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

/** What extensions add to the commands of a format. */
export interface FormatExtensions {
  readonly cel?: CelFeatures;
  readonly reqWithoutQuery?: true;
  /** What the words for a wrong format begin with. */
  readonly failure?: string;
}

/** Commands that are an extension in the API; those of metadata and CEL are always there. */
export const FORMATTERS = new ExtensionRegistry<FormatExtensions>('envoy.formatter', 'formatter', [
  extension(
    'envoy.formatter.metadata',
    'envoy.extensions.formatter.metadata.v3.Metadata',
    () => ({}),
  ),
  extension('envoy.formatter.cel', 'envoy.extensions.formatter.cel.v3.Cel', (message: Cel) => ({
    cel: celFeatures(message.cel_config),
  })),
  extension(
    'envoy.formatter.req_without_query',
    'envoy.extensions.formatter.req_without_query.v3.ReqWithoutQuery',
    () => ({ reqWithoutQuery: true as const }),
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
  const extensions = resolveFormatters(message.formatters ?? [], scope.at('formatters'));
  const omitEmptyValues = message.omit_empty_values ?? false;
  if (message.json_format !== undefined) {
    return {
      kind: 'json',
      fields: jsonFormat(message.json_format, scope.at('json_format'), extensions),
      omitEmptyValues,
      sortProperties: message.json_format_options?.sort_properties ?? false,
    };
  }
  const source =
    message.text_format === undefined
      ? textOf(message.text_format_source ?? {}, scope.at('text_format_source'), extensions)
      : checkFormat(message.text_format, scope.at('text_format'), extensions);
  return textFormat(source, omitEmptyValues);
}

/** What the formatters of one format add together. */
export function resolveFormatters(
  messages: readonly ExtensionMessage[],
  scope: Scope,
): FormatExtensions {
  let all: FormatExtensions = {};
  for (const [index, message] of messages.entries()) {
    all = { ...all, ...FORMATTERS.resolve(message, scope.at(index)) };
  }
  return all;
}

function textOf(source: DataSource, scope: Scope, extensions: FormatExtensions): string {
  return checkFormat(readDataSource(source, scope)?.toString('utf8') ?? '', scope, extensions);
}

/**
 * Reports what is wrong with a substitution format; returns the text as it stands on the wire, its
 * expressions packed.
 */
export function checkFormat(text: string, scope: Scope, extensions: FormatExtensions = {}): string {
  const { failure = '' } = extensions;
  const report = (reason: string, hint?: string): void =>
    scope.error('substitution_format', `${failure}${reason}`, hint);
  const packed = packExpressions(text, scope, extensions.cel ?? PLAIN_CEL);
  const result = parseFormat(packed);
  if (!result.ok) report(result.error, meantCommand(result.error));
  else if (extensions.reqWithoutQuery !== true && result.format.parts.some(isWithoutQuery)) {
    report('Not supported field in StreamInfo: REQ_WITHOUT_QUERY');
  } else if (scope.context.formatsBodies !== true) {
    const name = result.format.parts.map(bodyCommandOf).find((each) => each !== undefined);
    if (name) report(`Not supported field in StreamInfo: ${name}`);
  }
  return toByteString(packed);
}

/** By Envoy's words for a command that nobody has. */
function meantCommand(error: string): string | undefined {
  const [, name] = /^Not supported field in StreamInfo: ([A-Z0-9_]+)$/i.exec(error) ?? [];
  const near = name && nearestName(name, Object.keys(COMMANDS));
  return near === undefined || near === '' ? undefined : `did you mean %${near}%?`;
}

/** Formats of filters that wait for bodies may use it. */
function bodyCommandOf(part: string | FormatCommand): string | undefined {
  if (typeof part !== 'object') return undefined;
  return part.name === 'REQUEST_BODY' || part.name === 'RESPONSE_BODY' ? part.name : undefined;
}

function isWithoutQuery(part: string | FormatCommand): boolean {
  return typeof part === 'object' && part.name === 'REQ_WITHOUT_QUERY';
}

export function textFormat(format: string, omitEmptyValues: boolean): AccessLogFormat {
  return { kind: 'text', format, omitEmptyValues };
}

/** Every string in it is a substitution format; other leaves are printed as they are. */
export function jsonFormat(
  fields: JsonObject,
  scope: Scope,
  extensions: FormatExtensions = {},
): Dictionary<JsonFormatValue> {
  return dictionary(
    Object.entries(fields).map(([key, value]) => [
      toByteString(key),
      jsonFormatValue(value, scope.at(key), extensions),
    ]),
  );
}

function jsonFormatValue(
  value: JsonValue,
  scope: Scope,
  extensions: FormatExtensions,
): JsonFormatValue {
  if (typeof value === 'string') return checkFormat(value, scope, extensions);
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value))
    return value.map((entry, index) => jsonFormatValue(entry, scope.at(index), extensions));
  return jsonFormat(value, scope, extensions);
}

function isList(value: readonly JsonValue[] | JsonObject): value is readonly JsonValue[] {
  return Array.isArray(value);
}
