/** Settings and stats of envoy.filters.http.json_to_metadata. */
import { defineTemplate } from '../../../stats/template.ts';
import { counter } from '../../../stats/templates/spec.ts';
import type { CompiledRegex } from '../../routes/matchers.ts';
import { declareKind, type FilterResource } from '../declare-filter.ts';

export interface JsonEntry {
  readonly namespace: string;
  readonly key: string;
  /** Written instead of the value in the body; absent: that value. */
  readonly constant?: { readonly value: unknown };
  readonly type: 'protobuf' | 'string' | 'number';
  /** What is there under the key stays. */
  readonly preserves: boolean;
}

export interface JsonRule {
  /** Names of members from the outermost object inwards; at least one. */
  readonly path: readonly string[];
  readonly onPresent?: JsonEntry;
  readonly onMissing?: JsonEntry;
  readonly onError?: JsonEntry;
}

export interface JsonRules {
  readonly rules: readonly JsonRule[];
  /** In the words of the header; parameters are part of them. */
  readonly contentTypes: readonly string[];
  readonly contentTypeRegex?: CompiledRegex;
  readonly allowsEmptyType: boolean;
}

/** Per route too: a route's settings replace the chain's. */
export interface JsonToMetadataOptions {
  readonly request?: JsonRules;
  readonly response?: JsonRules;
}

/** Prefix: `json_to_metadata.rq.` and `json_to_metadata.resp.`, without a connection manager's. */
export const JSON_TO_METADATA = defineTemplate('json_to_metadata', {
  invalid_json_body: counter('Bodies that are no JSON'),
  mismatched_content_type: counter('Messages of another type'),
  no_body: counter('Messages without a body'),
  success: counter('Bodies that were read'),
});

export type JsonToMetadataFilterSettings = FilterResource<
  'json_to_metadata',
  JsonToMetadataOptions
>;

export const JSON_TO_METADATA_DECLARATION =
  declareKind<JsonToMetadataFilterSettings>(JSON_TO_METADATA);
