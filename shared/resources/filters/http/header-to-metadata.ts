/** Settings and stats of envoy.filters.http.header_to_metadata. */
import { defineTemplate } from '../../../stats/template.ts';
import { counter } from '../../../stats/templates/spec.ts';
import type { CompiledRegex } from '../../routes/matchers.ts';
import { declareKind, type FilterResource } from '../declare-filter.ts';

/** What is written where a header is there, or where it is missing. */
export interface MetadataEntry {
  readonly namespace: string;
  readonly key: string;
  /** A byte string that is written instead of the header's value; absent: that value. */
  readonly value?: string;
  /** What the header's value becomes before it is written. */
  readonly rewrite?: { readonly regex: CompiledRegex; readonly substitution: string };
  readonly type: 'string' | 'number' | 'protobuf';
  /** The value is decoded first. */
  readonly isBase64: boolean;
}

export interface HeaderToMetadataRule {
  /** Headers are named in lower case. */
  readonly source:
    | { readonly kind: 'header'; readonly name: string; readonly removes: boolean }
    | { readonly kind: 'cookie'; readonly name: string };
  readonly onPresent?: MetadataEntry;
  readonly onMissing?: MetadataEntry;
}

/** Per route too: a route's settings replace the chain's. */
export interface HeaderToMetadataOptions {
  /** Empty: nothing is counted. */
  readonly statPrefix: string;
  readonly requestRules: readonly HeaderToMetadataRule[];
  readonly responseRules: readonly HeaderToMetadataRule[];
}

/** Prefix: `http_filter_name.<stat_prefix of the filter>.`, in these words, as in Envoy. */
export const HEADER_TO_METADATA = defineTemplate('header_to_metadata', {
  base64_decode_failed: counter('Values that are not base64'),
  header_value_too_long: counter('Values that are too long to be kept'),
  regex_substitution_failed: counter('Values of which a rewrite left nothing'),
  request_header_not_found: counter('Missing headers of requests for which a rule has a value'),
  request_metadata_added: counter('Values written for requests'),
  request_rules_processed: counter('Rules looked at for requests'),
  response_header_not_found: counter('Missing headers of responses for which a rule has a value'),
  response_metadata_added: counter('Values written for responses'),
  response_rules_processed: counter('Rules looked at for responses'),
});

export type HeaderToMetadataFilterSettings = FilterResource<
  'header_to_metadata',
  HeaderToMetadataOptions
>;

export const HEADER_TO_METADATA_DECLARATION =
  declareKind<HeaderToMetadataFilterSettings>(HEADER_TO_METADATA);
