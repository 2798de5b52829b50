/** Resolves envoy.extensions.filters.http.compressor.v3, also per route. */
import { typeNameOf } from '../../../../config/type-name.ts';
import type {
  Compressor,
  Compressor_CommonDirectionConfig as CommonMessage,
  Compressor_ResponseDirectionConfig as ResponseMessage,
  CompressorPerRoute as PerRouteMessage,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/compressor/v3/compressor.ts';
import type {
  CompressionDirection,
  CompressorOptions,
  CompressorPerRoute,
  CompressorFilterSettings,
} from '../../../../../shared/resources/filters/http/compressor.ts';
import { whyNoZstdCompression } from '../../../../../shared/process/zstd.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import type { Scope } from '../../../scope.ts';
import { resolveStringMatcher } from '../../../matchers/string-matcher.ts';
import { optional } from '../../../values.ts';
import { COMPRESSION_LIBRARIES } from './compression-library.ts';
import { httpFilter, perRoute } from '../../http-filter-row.ts';

const COMPRESSOR_PER_ROUTE_TYPE = 'envoy.extensions.filters.http.compressor.v3.CompressorPerRoute';

export const COMPRESSOR_FILTER = httpFilter(
  'envoy.filters.http.compressor',
  'envoy.extensions.filters.http.compressor.v3.Compressor',
  (message: Compressor, scope, name): CompressorFilterSettings | undefined => {
    const options = resolveOptions(message, scope);
    return options && { kind: 'compressor', name, options };
  },
  perRoute(COMPRESSOR_PER_ROUTE_TYPE, resolveCompressorPerRoute),
);

const COMMON_FIELDS = knownFields<CommonMessage>([
  'enabled',
  'min_content_length',
  'content_type',
  'content_type_matcher',
]);
const RESPONSE_FIELDS = knownFields<ResponseMessage>([
  'common_config',
  'disable_on_etag_header',
  'remove_accept_encoding_header',
  'weaken_etag_on_compress',
  'uncompressible_response_codes',
  'status_header_enabled',
]);
const OVERRIDE_FIELDS = knownFields<NonNullable<PerRouteMessage['overrides']>>([
  'response_direction_config',
]);

const ZSTD = 'envoy.extensions.compression.zstd.compressor.v3.Zstd';

/** A client that accepts zstd also takes what is not compressed. */
function isZstd({ typed_config: config }: NonNullable<Compressor['compressor_library']>): boolean {
  return config !== undefined && typeNameOf(config['@type']) === ZSTD;
}

/** The fields of the filter itself hold for responses that have no settings of their own. */
function resolveOptions(message: Compressor, scope: Scope): CompressorOptions | undefined {
  const { compressor_library: named, request_direction_config: ofRequest } = message;
  if (named === undefined) return undefined;
  const whyNot = isZstd(named) ? whyNoZstdCompression() : undefined;
  if (whyNot !== undefined && ofRequest === undefined) {
    const text = `responses are not compressed by it: ${whyNot}`;
    scope.at('compressor_library').warning('no_effect', text);
    return undefined;
  }
  const library = COMPRESSION_LIBRARIES.resolve(named, scope.at('compressor_library'));
  if (library === undefined) return undefined;
  const own: ResponseMessage | undefined = message.response_direction_config;
  const response: ResponseMessage = own ?? {
    common_config: {
      ...optional('enabled', message.runtime_enabled),
      ...optional('min_content_length', message.content_length),
      ...optional('content_type', message.content_type),
    },
    ...optional('disable_on_etag_header', message.disable_on_etag_header),
    ...optional('remove_accept_encoding_header', message.remove_accept_encoding_header),
  };
  const place = scope.at('response_direction_config');
  refuseOtherFields(response, RESPONSE_FIELDS, place);
  const requestPlace = scope.at('request_direction_config');
  return {
    libraryName: named.name ?? '',
    library,
    ...optional('request', ofRequest && directionOf(ofRequest.common_config, requestPlace)),
    response: directionOf(response.common_config, place),
    hasResponseStats: own !== undefined,
    etag: etagRule(response),
    removeAcceptEncoding: response.remove_accept_encoding_header ?? false,
    uncompressibleStatuses: response.uncompressible_response_codes ?? [],
    tellsStatus: response.status_header_enabled ?? false,
    chooseFirst: message.choose_first ?? false,
  };
}

function resolveCompressorPerRoute(message: PerRouteMessage, scope: Scope): CompressorPerRoute {
  const place = scope.at('overrides');
  refuseOtherFields(message.overrides ?? {}, OVERRIDE_FIELDS, place);
  return {
    isDisabled: message.disabled ?? false,
    ...optional(
      'removeAcceptEncoding',
      message.overrides?.response_direction_config?.remove_accept_encoding_header,
    ),
  };
}

function etagRule(message: ResponseMessage): CompressorOptions['etag'] {
  if (message.disable_on_etag_header === true) return 'leave_uncompressed';
  return message.weaken_etag_on_compress === true ? 'weaken' : 'remove_strong';
}

const MIN_CONTENT_LENGTH = 30;

function directionOf(message: CommonMessage | undefined, scope: Scope): CompressionDirection {
  refuseOtherFields(message ?? {}, COMMON_FIELDS, scope.at('common_config'));
  const types = message?.content_type ?? [];
  const key = message?.enabled?.runtime_key ?? '';
  return {
    isEnabled: message?.enabled?.default_value ?? true,
    ...optional('enabledKey', key === '' ? undefined : key),
    minContentLength: message?.min_content_length ?? MIN_CONTENT_LENGTH,
    contentTypes: types.length > 0 ? types.map((type) => type.toLowerCase()) : CONTENT_TYPES,
    typeMatchers: typeMatchers(message, scope.at('common_config', 'content_type_matcher')),
  };
}

function typeMatchers(
  message: CommonMessage | undefined,
  scope: Scope,
): CompressionDirection['typeMatchers'] {
  return (message?.content_type_matcher ?? [])
    .map((matcher, index) => resolveStringMatcher(matcher, scope.at(index)))
    .filter((matcher) => matcher !== undefined);
}

const CONTENT_TYPES: readonly string[] = [
  'text/html',
  'text/plain',
  'text/css',
  'application/javascript',
  'application/x-javascript',
  'text/javascript',
  'text/x-javascript',
  'text/ecmascript',
  'text/js',
  'text/jscript',
  'text/x-js',
  'application/ecmascript',
  'application/x-json',
  'application/xml',
  'application/json',
  'application/grpc-web',
  'image/svg+xml',
  'text/xml',
  'application/xhtml+xml',
];
