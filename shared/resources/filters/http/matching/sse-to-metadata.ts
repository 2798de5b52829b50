/** Settings and stats of envoy.filters.http.sse_to_metadata, with the parser of JSON. */
import { defineTemplate } from '../../../../stats/template.ts';
import { counter } from '../../../../stats/templates/spec.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';
import type { JsonRule } from '../json-to-metadata.ts';

export interface EventRule {
  readonly rule: JsonRule;
  /** Events after the first that has the value are not looked at. */
  readonly takesFirst: boolean;
}

interface SseToMetadataOptions {
  readonly rules: readonly EventRule[];
  /** The limit of one event; 0: what a stream may keep. */
  readonly eventBytesMax: number;
}

/** Prefix: `sse_to_metadata.resp.json.`, without a connection manager's. */
export const SSE_TO_METADATA = defineTemplate('sse_to_metadata', {
  event_too_large: counter('Events that were too large and were left out'),
  metadata_added: counter('Values that were written'),
  metadata_from_fallback: counter('Values that were written because there were none'),
  mismatched_content_type: counter('Answers of another type'),
  no_data_field: counter('Events without data'),
  parse_error: counter('Events whose data is no JSON'),
  preserved_existing_metadata: counter('Values that were there and stayed'),
});

export type SseToMetadataFilterSettings = FilterResource<'sse_to_metadata', SseToMetadataOptions>;

export const SSE_TO_METADATA_DECLARATION =
  declareKind<SseToMetadataFilterSettings>(SSE_TO_METADATA);
