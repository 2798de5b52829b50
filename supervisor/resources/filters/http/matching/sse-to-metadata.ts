/** Resolves envoy.extensions.filters.http.sse_to_metadata.v3, and the parser of its events' data. */
import type { JsonContentParser } from '../../../../../shared/api/generated/envoy/extensions/content_parsers/json/v3/json_content_parser.ts';
import type {
  SseToMetadata,
  SseToMetadata_ProcessingRules as RulesMessage,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/sse_to_metadata/v3/sse_to_metadata.ts';
import type {
  EventRule,
  SseToMetadataFilterSettings,
} from '../../../../../shared/resources/filters/http/matching/sse-to-metadata.ts';
import { extension, ExtensionRegistry } from '../../../extensions.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import type { Scope } from '../../../scope.ts';
import { httpFilter } from '../../http-filter-row.ts';
import { resolveRule } from '../json-to-metadata.ts';

const RULES_FIELDS = knownFields<RulesMessage>(['content_parser', 'max_event_size']);
const PARSER = 'envoy.content_parsers.json';
const EVENT_BYTES_MAX = 8192;

export const CONTENT_PARSERS = new ExtensionRegistry<readonly EventRule[]>(
  'envoy.content_parsers',
  'content parser',
  [extension(PARSER, 'envoy.extensions.content_parsers.json.v3.JsonContentParser', resolveParser)],
);

export const SSE_TO_METADATA_FILTER = httpFilter(
  'envoy.filters.http.sse_to_metadata',
  'envoy.extensions.filters.http.sse_to_metadata.v3.SseToMetadata',
  (message: SseToMetadata, scope, name): SseToMetadataFilterSettings | undefined => {
    const { response_rules: rules = {} } = message;
    const place = scope.at('response_rules');
    refuseOtherFields(rules, RULES_FIELDS, place);
    const parsed =
      rules.content_parser &&
      CONTENT_PARSERS.resolve(rules.content_parser, place.at('content_parser'));
    if (parsed === undefined) return undefined;
    const eventBytesMax = rules.max_event_size ?? EVENT_BYTES_MAX;
    return { kind: 'sse_to_metadata', name, options: { rules: parsed, eventBytesMax } };
  },
);

function resolveParser({ rules = [] }: JsonContentParser, scope: Scope): readonly EventRule[] {
  return rules.map(({ rule = {}, stop_processing_after_matches: matches = 0 }, index) => ({
    rule: resolveRule(rule, scope.at('rules', index, 'rule'), PARSER),
    takesFirst: matches > 0,
  }));
}
