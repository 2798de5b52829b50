/** Resolves envoy.extensions.filters.http.transform.v3, for a chain and per route. */
import type {
  BodyTransformation,
  TransformConfig,
  Transformation as TransformationMessage,
} from '../../../../shared/api/generated/envoy/extensions/filters/http/transform/v3/transform.ts';
import type {
  Transformation,
  TransformFilterSettings,
  TransformOptions,
} from '../../../../shared/resources/filters/http/matching/transform.ts';
import { resolveFormat } from '../../access-logs/format.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { Scope } from '../../scope.ts';
import { optional } from '../../values.ts';
import { httpFilter, perRoute } from '../http-filter-row.ts';
import { resolveHeaderRules } from './header-mutation.ts';

const TYPE = 'envoy.extensions.filters.http.transform.v3.TransformConfig';
const FIELDS = knownFields<TransformConfig>([
  'request_transformation',
  'response_transformation',
  'clear_cluster_cache',
  'clear_route_cache',
]);
const TRANSFORMATION_FIELDS = knownFields<TransformationMessage>([
  'headers_mutations',
  'body_transformation',
]);
const BODY_FIELDS = knownFields<BodyTransformation>(['body_format', 'action']);

export const TRANSFORM_FILTER = httpFilter(
  'envoy.filters.http.transform',
  TYPE,
  (message: TransformConfig, scope, name): TransformFilterSettings => ({
    kind: 'transform',
    name,
    options: resolveTransform(message, scope),
  }),
  perRoute(TYPE, resolveTransform),
);

function resolveTransform(message: TransformConfig, outer: Scope): TransformOptions {
  const scope = new Scope({ ...outer.context, formatsBodies: true }, outer.place);
  refuseOtherFields(message, FIELDS, scope);
  const { request_transformation: request, response_transformation: response } = message;
  return {
    ...optional(
      'request',
      request && resolveTransformation(request, scope.at('request_transformation')),
    ),
    ...optional(
      'response',
      response && resolveTransformation(response, scope.at('response_transformation')),
    ),
    // A cluster follows from the route alone here.
    clearsRoute: message.clear_route_cache === true || message.clear_cluster_cache === true,
  };
}

function resolveTransformation(message: TransformationMessage, scope: Scope): Transformation {
  refuseOtherFields(message, TRANSFORMATION_FIELDS, scope);
  const { headers_mutations: mutations, body_transformation: body } = message;
  return {
    headers: resolveHeaderRules(mutations, scope.at('headers_mutations')),
    ...optional('body', body && resolveBody(body, scope.at('body_transformation'))),
  };
}

function resolveBody(message: BodyTransformation, scope: Scope): Transformation['body'] {
  refuseOtherFields(message, BODY_FIELDS, scope);
  const format = resolveFormat(message.body_format, scope.at('body_format'));
  return {
    format: format.kind === 'json' ? { ...format, sortProperties: true } : format,
    isMerged: message.action !== 'REPLACE',
  };
}
